import subprocess
import sys

from cutset.inject.ecdsa import new_private_key, public_key
from cutset.inject.signing import is_private_key, public_key_of, seal_of, signer_of
from cutset_agent.wire import WireSigner

SHARED = b"a key for tests that nobody guesses"


def test_a_shared_key_signs_and_seals_as_it_is():
    assert signer_of(SHARED) == SHARED
    assert seal_of(SHARED) == SHARED
    assert public_key_of(SHARED) == b""


def test_a_private_key_signs_with_its_scheme_and_gives_nothing_of_itself_away():
    key = new_private_key()
    signer = signer_of(key)
    assert isinstance(signer, WireSigner)
    assert signer.scheme == "e"
    assert public_key_of(key) == public_key(key)
    assert seal_of(key) == seal_of(b"\n" + key.strip()) != seal_of(new_private_key())
    assert seal_of(key) not in key


def test_whatever_claims_to_be_a_private_key_is_never_a_shared_one():
    assert is_private_key(b"\n-----BEGIN EC PRIVATE KEY-----\nbroken")
    assert not is_private_key(SHARED)


def test_without_a_private_key_nothing_heavy_is_loaded():
    program = "import sys, cutset.inject.signing as s; s.signer_of(b'x' * 32); print('cryptography' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"
