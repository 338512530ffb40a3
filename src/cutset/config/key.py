"""The key that signs fault plans: from the environment, and from nowhere else."""

from collections.abc import Mapping

from cutset.errors import UsageError

KEY_VARIABLE = "CUTSET_KEY"


def signing_key(environ: Mapping[str, str]) -> bytes:
    if not (key := environ.get(KEY_VARIABLE, "")):
        raise UsageError(
            f"The environment variable `{KEY_VARIABLE}` is not set: fault plans cannot be signed",
            hint=f"Run `export {KEY_VARIABLE}=$(openssl rand -hex 32)`, and give the sidecars the same key",
        )
    return key.encode(errors="surrogateescape")
