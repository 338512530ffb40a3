"""Plans that a private key signs (scheme `e` of WIRE.md): ECDSA P-256 over SHA-256, r and s as they are.

Whoever only executes plans then holds no secret. Envoy's Lua verifies it natively, agents by
`cutset_agent/ecdsa.py`. Deterministic (RFC 6979), so that no weak source of randomness can give the key away.
"""

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from cutset.errors import UsageError
from cutset_agent.wire import WireSigner

_HINT = "Make one with `openssl ecparam -name prime256v1 -genkey -noout`"


def ecdsa_signer(pem: bytes) -> WireSigner:
    private = _private_key(pem)

    def sign(text: bytes) -> bytes:
        signature = private.sign(text, ec.ECDSA(SHA256(), deterministic_signing=True))
        return b"".join(number.to_bytes(32, "big") for number in decode_dss_signature(signature))

    return WireSigner("e", sign)


def public_key(pem: bytes) -> bytes:
    """DER, as `filter_source` wants it."""
    key = _private_key(pem).public_key()
    return bytes(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def new_private_key() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    return bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def derived_secret(pem: bytes, purpose: bytes) -> bytes:
    """32 bytes for another purpose than signing: HMAC-SHA256 of its name, keyed with the private scalar.

    The same however the key is written in PEM.
    """
    scalar = _private_key(pem).private_numbers().private_value
    return hmac.digest(scalar.to_bytes(32, "big"), purpose, hashlib.sha256)


def _private_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(pem, password=None)
    except (TypeError, ValueError) as error:
        raise UsageError("The signing key is no private key in PEM without a password", hint=_HINT) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise UsageError("The signing key is not of the curve P-256", hint=_HINT)
    return key
