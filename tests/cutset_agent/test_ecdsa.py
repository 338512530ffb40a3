"""Both ways to verify against `cryptography` itself, against the golden vectors, and in the oldest Python."""

import base64
import json
import subprocess
import sys
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.interpreters import interpreter

from cutset_agent import carriers, ecdsa, wire

VECTORS = json.loads(files("cutset_agent").joinpath("wire_vectors.json").read_text(encoding="utf-8"))
DER = bytes.fromhex(VECTORS["public_key"])
SCALARS = st.integers(1, ecdsa.ORDER - 1)
NUMBERS = st.one_of(
    st.integers(0, 2**256 - 1),
    st.sampled_from([0, 1, 2, ecdsa.ORDER - 1, ecdsa.ORDER, ecdsa.ORDER + 1, ecdsa.PRIME, 2**256 - 1]),
)


@pytest.fixture(params=["by cryptography", "in Python alone"])
def verifier(request, monkeypatch):
    if request.param == "in Python alone":
        monkeypatch.setattr(ecdsa, "_verified_elsewhere", lambda _: None)
    ecdsa._way_to_verify.cache_clear()
    yield ecdsa.public_verifier(base64.b64encode(DER).decode())
    ecdsa._way_to_verify.cache_clear()


def decoded(value, verifier):
    return wire.decode(value, verifier, VECTORS["environment"], VECTORS["trace"], VECTORS["now"])


def test_the_golden_plans_are_read_as_those_of_a_shared_key(verifier):
    for plan in VECTORS["plans"]:
        for part in plan["signed_parts"]:
            body = "2h" + part.rpartition(".")[0][2:]
            key = VECTORS["key"].encode()
            proof = wire._proof(wire._shared(key), VECTORS["environment"], VECTORS["trace"], body)
            assert decoded(part, verifier) == decoded(f"{body}.{proof}", key)


@pytest.mark.parametrize("vector", VECTORS["signatures"], ids=lambda vector: vector["about"])
def test_signatures_at_the_limits_are_decided_as_the_golden_vectors_say(vector, verifier):
    if vector["accepted"]:
        assert decoded(vector["value"], verifier).faults
    else:
        with pytest.raises(wire.PlanRejectedError, match=r"malformed|wrong signature"):
            decoded(vector["value"], verifier)


def test_golden_forgeries_are_rejected(verifier):
    for value in VECTORS["rejected_signed"]:
        with pytest.raises(wire.PlanRejectedError):
            decoded(value, verifier)


@pytest.mark.parametrize("vector", VECTORS["public_keys_refused"], ids=lambda vector: vector["about"])
def test_what_is_no_public_key_of_the_curve_verifies_nothing(vector):
    assert ecdsa.public_verifier(base64.b64encode(bytes.fromhex(vector["key"])).decode()) is None


def test_a_public_key_may_be_in_pem():
    pem = ec.derive_private_key(7, ec.SECP256R1()).public_key()
    text = pem.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    assert ecdsa.public_verifier(f"\n{text}\n").scheme == "e"
    assert ecdsa.public_verifier(text.replace("PUBLIC", "PRIVATE")) is None
    assert ecdsa.public_verifier("ü") is None


@lru_cache(maxsize=64)
def _ways(scalar):
    """Of one key: by `cryptography` as it is, through us, and in Python alone."""
    public = ec.derive_private_key(scalar, ec.SECP256R1()).public_key()
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    numbers = public.public_numbers()

    def reference(text, signature):
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        try:
            public.verify(encode_dss_signature(r, s), text, ec.ECDSA(SHA256()))
        except InvalidSignature:
            return False
        return True

    return reference, ecdsa._verified_elsewhere(der), ecdsa._verified_here((numbers.x, numbers.y))


def _bytes(r, s):
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


@given(
    scalar=st.sampled_from([1, 2, 3, 0xDEADBEEF, ecdsa.ORDER - 1, ecdsa.ORDER - 2]),
    text=st.binary(max_size=99),
    data=st.data(),
)
@settings(max_examples=60)
def test_all_ways_agree_on_real_signatures_and_on_changed_ones(scalar, text, data):
    ways = _ways(scalar)
    private = ec.derive_private_key(scalar, ec.SECP256R1())
    r, s = decode_dss_signature(private.sign(text, ec.ECDSA(SHA256())))
    for signature in (_bytes(r, s), _bytes(r, ecdsa.ORDER - s)):
        assert [verify(text, signature) for verify in ways] == [True] * 3
    changed = bytearray(_bytes(r, s))
    changed[data.draw(st.integers(0, 63))] ^= 1 << data.draw(st.integers(0, 7))
    assert [verify(text, bytes(changed)) for verify in ways] == [False] * 3
    assert [verify(text + b"x", _bytes(r, s)) for verify in ways] == [False] * 3


@given(scalar=st.sampled_from([1, 2, ecdsa.ORDER - 1]), text=st.binary(max_size=9), r=NUMBERS, s=NUMBERS)
@settings(max_examples=100)
def test_all_ways_agree_on_any_numbers(scalar, text, r, s):
    reference, *ours = _ways(scalar)
    expected = reference(text, _bytes(r, s))
    assert [verify(text, _bytes(r, s)) for verify in ours] == [expected] * 2


@given(SCALARS, SCALARS)
@settings(max_examples=30)
def test_products_of_points_are_those_of_cryptography(one, other):
    def affine(point):
        x, y, z = point
        inverse = pow(z, -1, ecdsa.PRIME)
        return x * inverse**2 % ecdsa.PRIME, y * inverse**3 % ecdsa.PRIME

    tables = _tables()
    total = (one + 7 * other) % ecdsa.ORDER
    found = ecdsa._sum_of_products(((one, tables[0]), (other, tables[1])))
    if total == 0:
        assert found[2] == 0
    else:
        numbers = ec.derive_private_key(total, ec.SECP256R1()).public_key().public_numbers()
        assert affine(found) == (numbers.x, numbers.y)


@lru_cache(maxsize=1)
def _tables():
    seven = ec.derive_private_key(7, ec.SECP256R1()).public_key().public_numbers()
    return ecdsa._multiples(ecdsa._GENERATOR), ecdsa._multiples((seven.x, seven.y))


def test_points_that_are_equal_or_opposite_are_added_too():
    x, y = ecdsa._GENERATOR
    two = ecdsa._added((x, y, 1), (x, y, 1))
    assert two == ecdsa._doubled((x, y, 1))
    assert ecdsa._added((x, y, 1), (x, ecdsa.PRIME - y, 1))[2] == 0
    assert ecdsa._added(ecdsa._INFINITY, two) == ecdsa._added(two, ecdsa._INFINITY) == two


def test_the_same_proof_is_verified_once(verifier, monkeypatch):
    vector = VECTORS["signatures"][0]["value"]
    headers = [("tracestate", f"cutset={vector}"), ("baggage", f"cutset={vector}")]
    headers += [("traceparent", f"00-{VECTORS['trace']}-00f067aa0ba902b7-01")]
    for _ in range(3):
        found = carriers.read_plan(headers, key=verifier, environment="golden", now=VECTORS["now"])
        assert len(found) == 1
    assert verifier.verify.cache_info().misses == 1


def test_the_oldest_python_without_any_dependency_verifies_too(tmp_path):
    (tmp_path / "verify.py").write_text(
        "import base64, json, sys\n"
        "from cutset_agent import ecdsa, wire\n"
        "vectors = json.load(open(sys.argv[1], encoding='utf-8'))\n"
        "verifier = ecdsa.public_verifier(base64.b64encode(bytes.fromhex(vectors['public_key'])).decode())\n"
        "def accepts(value):\n"
        "    try:\n"
        "        wire.decode(value, verifier, vectors['environment'], vectors['trace'], vectors['now'])\n"
        "    except wire.PlanRejectedError:\n"
        "        return False\n"
        "    return True\n"
        "assert ecdsa._verified_elsewhere(bytes.fromhex(vectors['public_key'])) is None\n"
        "assert all(accepts(each['value']) == each['accepted'] for each in vectors['signatures'])\n"
    )
    source = Path(ecdsa.__file__).parent
    command = [interpreter("3.9"), "-S", str(tmp_path / "verify.py"), str(source / "wire_vectors.json")]
    done = subprocess.run(command, env={"PYTHONPATH": str(source.parent)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_loaded_before_a_plan_comes():
    program = (
        "import sys; from cutset_agent.ecdsa import public_verifier; "
        f"public_verifier('{base64.b64encode(DER).decode()}'); print('cryptography' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"
