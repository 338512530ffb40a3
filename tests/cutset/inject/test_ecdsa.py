import json
from importlib.resources import files

import pytest

from cutset.errors import UsageError
from cutset_agent import wire

pytest.importorskip("cryptography")
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cutset.inject.ecdsa import ecdsa_signer, public_key

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


@pytest.mark.parametrize("key", [b"", b"no key", pem(ec.SECP384R1)])
def test_what_is_no_key_of_the_curve_is_refused(key):
    with pytest.raises(UsageError) as caught:
        ecdsa_signer(key)
    assert "prime256v1" in caught.value.hint
