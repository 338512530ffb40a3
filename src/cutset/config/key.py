"""The key that signs fault plans: from the environment, and from nowhere else."""

from collections.abc import Mapping

from cutset.errors import UsageError
from cutset_agent.wire import MIN_KEY_BYTES

KEY_VARIABLE = "CUTSET_KEY"


def signing_key(environ: Mapping[str, str]) -> bytes:
    if not (key := environ.get(KEY_VARIABLE, "")):
        raise UsageError(
            f"The environment variable `{KEY_VARIABLE}` is not set: fault plans cannot be signed",
            hint=f"Run `export {KEY_VARIABLE}=$(openssl rand -hex 32)`, and give the sidecars the same key",
        )
    found = key.encode(errors="surrogateescape")
    if len(found) < MIN_KEY_BYTES:
        raise UsageError(
            f"The key in `{KEY_VARIABLE}` has {len(found)} bytes and needs {MIN_KEY_BYTES}, or it is guessed",
            hint=f"Run `export {KEY_VARIABLE}=$(openssl rand -hex 32)`, and give the sidecars the same key",
        )
    return found
