import getpass
import os
import socket

import pytest

from cutset.process.whom import user_at_host


def test_it_is_the_user_at_the_machine() -> None:
    assert user_at_host() == f"{getpass.getuser()}@{socket.gethostname()}"


def test_a_user_without_a_name_has_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 65532")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert user_at_host() == f"{os.getuid()}@{socket.gethostname()}"
