import json
import time
from dataclasses import replace
from importlib.resources import files

import pytest

from cutset.errors import UsageError
from cutset.inject.local.mesh import run_mesh
from cutset.model.mesh import MeshSpec
from cutset_agent import wire

pytest.importorskip("cryptography", reason="it is a dependency: `make` installs it")
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cutset.inject.ecdsa import derived_secret, ecdsa_signer, new_private_key, public_key

VECTORS = json.loads(files("cutset_agent").joinpath("wire_vectors.json").read_text(encoding="utf-8"))


def pem(curve=ec.SECP256R1) -> bytes:
    key = ec.derive_private_key(int(VECTORS["private_key"], 16), curve())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("vector", VECTORS["plans"], ids=lambda vector: vector["about"])
def test_plans_are_signed_as_the_golden_vectors_say(vector):
    faults = [(wire.WireTarget(*fault["target"]), wire.WireFault(*fault["fault"])) for fault in vector["faults"]]
    parts = wire.encode(
        faults,
        key=ecdsa_signer(pem()),
        environment=VECTORS["environment"],
        trace_id=VECTORS["trace"],
        expires=VECTORS["expires"],
        now=VECTORS["now"],
        catalogue=[wire.WireTarget(*target) for target in vector.get("catalogue", ())],
    )
    assert list(parts) == vector["signed_parts"]
    assert all(len(part) <= wire.MAX_VALUE_CHARACTERS for part in parts)


def test_the_public_key_is_what_sidecars_get():
    assert public_key(pem()).hex() == VECTORS["public_key"]


def test_a_new_key_is_another_each_time_and_of_the_curve():
    assert public_key(new_private_key()) != public_key(new_private_key())


def test_what_is_derived_depends_on_key_and_purpose_but_not_on_how_the_key_is_written():
    key = ec.derive_private_key(int(VECTORS["private_key"], 16), ec.SECP256R1())
    as_openssl_writes = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    assert as_openssl_writes != pem()
    secret = derived_secret(pem(), b"seal")
    assert len(secret) == 32
    assert secret == derived_secret(as_openssl_writes, b"seal") == derived_secret(pem().strip(), b"seal")
    assert secret not in (derived_secret(pem(), b"other"), derived_secret(new_private_key(), b"seal"))


@pytest.mark.parametrize("key", [b"", b"no key", pem(ec.SECP384R1)])
def test_what_is_no_key_of_the_curve_is_refused(key):
    with pytest.raises(UsageError) as caught:
        ecdsa_signer(key)
    assert "prime256v1" in caught.value.hint


def test_a_sidecar_without_any_secret_executes_what_the_private_key_signed(lab, mesh_dir):
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    signer = ecdsa_signer(pem())
    spec = MeshSpec((replace(lab.mesh.spec.services[1], port=0),), environment="test")
    with run_mesh(spec, key=pem(), work_dir=mesh_dir) as mesh:

        def status(**options):
            headers = lab.headers("solo/GET /", *(f"other{n}/X" for n in range(60)), **options)
            headers |= {"traceparent": headers["traceparent"].replace("4bf92f35", "5bf92f35")}
            return lab.client.get(f"http://{mesh.addresses['solo']}/", headers=headers).status_code

        assert b"PRIVATE" not in (mesh_dir / "envoy.json").read_bytes()
        assert status(key=pem()) == 503, "a private key signs as it is"
        for carrier in ("baggage", "jaeger"):
            for _ in range(20):  # r and s begin with zeros or high bits in some: each is written in its own way
                assert status(key=signer, carriers=[carrier]) == 503
        assert status(key=ecdsa_signer(other)) == 200
        assert status() == 200, "signed with the shared key"
        assert status(key=signer, environment="production") == 200
        assert status(key=signer, expires=time.time() - 1) == 200
        assert status(key=signer, trace_id="4bf92f3577b34da64bf92f3577b34da6") == 200, "replayed in another trace"
