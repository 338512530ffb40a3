"""What a key can do: a private key in PEM signs with ECDSA (scheme `e` of WIRE.md), any other bytes with HMAC (`h`).

Everybody hands on a key as the bytes that it is. `cryptography` is loaded only where there is a private key.
"""

from functools import lru_cache

from cutset_agent.wire import WireSigner

_BEGIN = b"-----BEGIN "


def is_private_key(key: bytes) -> bool:
    """Whether it claims to be one: what is wrong with it says whoever uses it."""
    return key.lstrip().startswith(_BEGIN)


@lru_cache(maxsize=8)
def signer_of(key: bytes) -> bytes | WireSigner:
    """What `wire.encode` takes."""
    if not is_private_key(key):
        return key
    from cutset.inject.ecdsa import ecdsa_signer  # noqa: PLC0415 -- takes 40 ms to load

    return ecdsa_signer(key)


def public_key_of(key: bytes) -> bytes:
    """DER; empty for a shared key, which whoever verifies needs as well."""
    if not is_private_key(key):
        return b""
    from cutset.inject.ecdsa import public_key  # noqa: PLC0415 -- as above

    return public_key(key)


def seal_of(key: bytes) -> bytes:
    """The secret that seals ledgers: a shared key itself; of a private key, what only who has it can derive."""
    if not is_private_key(key):
        return key
    from cutset.inject.ecdsa import derived_secret  # noqa: PLC0415 -- as above

    return derived_secret(key, b"cutset ledger seal")
