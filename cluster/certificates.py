"""The API server's certificate by an authority of the laboratory's own, so that clients verify it as anywhere."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

LIFETIME = dt.timedelta(days=30)


def _pem(key: rsa.RSAPrivateKey) -> bytes:
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))


def _certificate(
    name: str, key: rsa.RSAPrivateKey, signer: rsa.RSAPrivateKey, issuer: str, hosts: list[str]
) -> x509.Certificate:
    now = dt.datetime.now(dt.UTC)
    names: list[x509.GeneralName] = []
    for host in hosts:
        numeric = host[0].isdigit()
        names.append(x509.IPAddress(ipaddress.ip_address(host)) if numeric else x509.DNSName(host))
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=not hosts, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if not hosts:
        signs = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        return builder.add_extension(signs, critical=True).sign(signer, hashes.SHA256())
    return builder.add_extension(x509.SubjectAlternativeName(names), critical=False).sign(signer, hashes.SHA256())


def write_certificates(folder: Path, hosts: list[str]) -> None:
    """ca.crt, server.crt and server.key for these hosts, and service-account.key, which signs the pods' tokens."""
    folder.mkdir(parents=True)
    authority, server, tokens = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(3))
    root = _certificate("laboratory", authority, authority, "laboratory", [])
    leaf = _certificate("kube-apiserver", server, authority, "laboratory", hosts)
    pem = serialization.Encoding.PEM
    (folder / "ca.crt").write_bytes(root.public_bytes(pem))
    (folder / "server.crt").write_bytes(leaf.public_bytes(pem))
    (folder / "server.key").write_bytes(_pem(server))
    (folder / "service-account.key").write_bytes(_pem(tokens))
