import os

import pytest

from cutset.config.key import key_file, make_key_file, signing_key
from cutset.errors import UsageError
from cutset.inject.ecdsa import new_private_key, public_key
from cutset.inject.signing import public_key_of


@pytest.fixture
def home(tmp_path):
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


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


def test_the_variable_may_hold_a_private_key():
    pem = new_private_key().decode()
    assert signing_key({"CUTSET_KEY": pem}) == pem.encode()
    assert signing_key({"CUTSET_KEY": pem.strip()}, "shop", private=True) == pem.strip().encode()
    with pytest.raises(UsageError, match="no private key in PEM"):
        signing_key({"CUTSET_KEY": pem.replace("A", "B")})


def test_a_key_is_made_once_for_each_environment_and_found_again(home):
    made = make_key_file(home, "shop")
    file = key_file(home, "shop")
    assert file.read_bytes() == made
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert make_key_file(home, "shop") == made
    assert signing_key(home, "shop") == signing_key(home, "shop", private=True) == made
    assert public_key_of(make_key_file(home, "other")) != public_key(made)


def test_a_private_key_in_the_variable_comes_first_and_leaves_no_file(home):
    pem = new_private_key()
    assert make_key_file({**home, "CUTSET_KEY": pem.decode()}, "shop") == pem
    assert not key_file(home, "shop").exists()


def test_a_shared_key_in_the_variable_is_not_for_sidecars_that_have_a_public_one(home):
    shared = {**home, "CUTSET_KEY": "secret" * 6}
    made = make_key_file(shared, "shop")
    assert signing_key(shared, "shop", private=True) == made
    assert signing_key(shared, "shop") == b"secret" * 6


def test_without_a_private_key_it_says_who_makes_one(home):
    with pytest.raises(UsageError, match="no private key for the environment `shop`") as caught:
        signing_key({**home, "CUTSET_KEY": "secret" * 6}, "shop", private=True)
    assert "cutset install" in caught.value.hint
    assert str(key_file(home, "shop")) in caught.value.hint


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o777])
def test_a_key_file_that_others_can_use_is_refused(home, mode):
    make_key_file(home, "shop")
    key_file(home, "shop").chmod(mode)
    for use in (make_key_file, signing_key):
        with pytest.raises(UsageError, match=f"others.*mode {mode:04o}") as caught:
            use(home, "shop")
        assert "chmod 600" in caught.value.hint


def test_a_key_file_of_somebody_else_is_refused(home, monkeypatch):
    make_key_file(home, "shop")
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(UsageError, match="is not yours"):
        signing_key(home, "shop")


def test_a_key_file_that_holds_none_is_refused(home):
    make_key_file(home, "shop")
    key_file(home, "shop").write_text("x" * 64)
    with pytest.raises(UsageError, match="holds no private key"):
        signing_key(home, "shop")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "cutset").write_text("a file")
    with pytest.raises(UsageError, match="cannot be written"):
        make_key_file({"XDG_CONFIG_HOME": str(tmp_path)}, "shop")


def test_where_key_files_are(tmp_path):
    assert key_file({"HOME": "/home/me"}, "shop").as_posix() == "/home/me/.config/cutset/keys/shop.pem"
    assert key_file({"HOME": "/home/me", "XDG_CONFIG_HOME": "relative"}, "shop").is_absolute()


@pytest.mark.parametrize("name", ["", ".", "../x", "a/b", ".hidden", "x" * 129])
def test_an_environment_whose_name_leads_elsewhere_has_no_key_file(home, name):
    with pytest.raises(UsageError, match="cannot be the name of a key file"):
        key_file(home, name)
