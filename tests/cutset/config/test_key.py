import pytest

from cutset.config.key import signing_key
from cutset.errors import UsageError


def test_the_key_is_the_environment_s() -> None:
    assert signing_key({"CUTSET_KEY": "secret" * 6}) == b"secret" * 6


@pytest.mark.parametrize("environment", [{}, {"CUTSET_KEY": ""}])
def test_without_a_key_it_says_how_to_make_one(environment: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="`CUTSET_KEY` is not set") as caught:
        signing_key(environment)
    assert "openssl rand" in caught.value.hint


def test_a_key_that_could_be_guessed_is_refused():
    with pytest.raises(UsageError, match="has 6 bytes and needs 32") as caught:
        signing_key({"CUTSET_KEY": "secret"})
    assert "openssl rand -hex 32" in caught.value.hint
