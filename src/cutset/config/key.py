"""The key that signs fault plans: that in the environment variable, or the environment's file that `install` made.

The variable holds 32 bytes or more, which sidecars must have too, or a private key in PEM, of which they need only the
public one. A file always holds a private key, and nobody but its owner may read it.
"""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from cutset.errors import UsageError
from cutset.inject.signing import is_private_key, public_key_of
from cutset_agent.wire import MIN_KEY_BYTES

KEY_VARIABLE = "CUTSET_KEY"
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_MOST_BYTES = 10_000  # of a key file: a key in PEM has 250


def signing_key(environ: Mapping[str, str], environment: str = "", *, private: bool = False) -> bytes:
    """With `private`, sidecars know the public key alone: a shared key in the variable is for other places.

    Without a name of the environment there is no file to look at.
    """
    key = environ.get(KEY_VARIABLE, "").encode(errors="surrogateescape")
    if key and (is_private_key(key) or not private):
        return _checked(key)
    if environment and (file := key_file(environ, environment)).exists():
        return _of_file(file)
    if private:
        raise UsageError(
            f"There is no private key for the environment `{environment}`: fault plans cannot be signed",
            hint=f"`cutset install` makes one, in `{key_file(environ, environment)}`; "
            f"where another has installed it, set `{KEY_VARIABLE}` to that key",
        )
    raise UsageError(
        f"The environment variable `{KEY_VARIABLE}` is not set: fault plans cannot be signed",
        hint=f"Run `export {KEY_VARIABLE}=$(openssl rand -hex 32)`, and give the sidecars the same key",
    )


def make_key_file(environ: Mapping[str, str], environment: str) -> bytes:
    """The private key of an environment: that in the variable, that of its file, or a new one in that file."""
    key, file = environ.get(KEY_VARIABLE, "").encode(errors="surrogateescape"), key_file(environ, environment)
    if is_private_key(key) or file.exists():
        return signing_key(environ, environment, private=True)
    from cutset.inject.ecdsa import new_private_key  # noqa: PLC0415 -- takes 40 ms to load

    made = new_private_key()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(made)
    except FileExistsError:  # another was faster
        return _of_file(file)
    except OSError as error:
        raise UsageError(
            f"The key file `{file}` cannot be written: {error.strerror}",
            hint=f"Set `XDG_CONFIG_HOME` to a folder of yours, or `{KEY_VARIABLE}` to a private key in PEM",
        ) from error
    return made


def key_file(environ: Mapping[str, str], environment: str) -> Path:
    if not _FILE_NAME.fullmatch(environment):
        raise UsageError(f"`{environment}` cannot be the name of a key file", hint="Use letters, digits, `-`, `_`, `.`")
    home = environ.get("XDG_CONFIG_HOME", "")
    folder = Path(home) if Path(home).is_absolute() else Path(environ.get("HOME") or Path.home(), ".config")
    return folder / "cutset" / "keys" / f"{environment}.pem"


def _of_file(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            status = os.fstat(opened.fileno())
            key = opened.read(_MOST_BYTES)
    except OSError as error:
        raise UsageError(f"The key file `{file}` cannot be read: {error.strerror}") from error
    if status.st_uid != os.geteuid():
        raise UsageError(
            f"The key file `{file}` is not yours: whoever owns it could change the key",
            hint=f"Make a copy that you own, or set `{KEY_VARIABLE}`",
        )
    if (mode := stat.S_IMODE(status.st_mode)) & 0o077:
        raise UsageError(
            f"The key file `{file}` can be used by others (mode {mode:04o})",
            hint=f"Run `chmod 600 {file}`; if others may have read it, delete it and run `cutset install` again",
        )
    if not is_private_key(key):
        raise UsageError(f"The key file `{file}` holds no private key in PEM")
    return _checked(key)


def _checked(key: bytes) -> bytes:
    if is_private_key(key):
        public_key_of(key)  # refuses what is no key of the curve
        return key
    if len(key) < MIN_KEY_BYTES:
        raise UsageError(
            f"The key in `{KEY_VARIABLE}` has {len(key)} bytes and needs {MIN_KEY_BYTES}, or it is guessed",
            hint=f"Run `export {KEY_VARIABLE}=$(openssl rand -hex 32)`, and give the sidecars the same key",
        )
    return key
