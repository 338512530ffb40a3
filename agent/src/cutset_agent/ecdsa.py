"""Verifies plans that a private key signed (scheme `e` of WIRE.md): ECDSA on P-256 over SHA-256, FIPS 186-5 §6.4.

By `cryptography` where the service has it, else in Python alone, some ten times slower. Nothing here is secret, so that
nothing depends on how long it takes. The public key stays the same as long as the process lives: its multiples are laid
out once, as those of the generator are, and a verification is additions only.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from cutset_agent.wire import WireVerifier

PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_GENERATOR = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
# SubjectPublicKeyInfo of an uncompressed point of this curve: all that comes before x and y.
_HEAD = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200" + "04")
_PEM = re.compile(r"\s*-----BEGIN PUBLIC KEY-----(.*)-----END PUBLIC KEY-----\s*", re.DOTALL)
_WINDOW = 4  # bits: 64 additions for each of two scalars, and half a megabyte of multiples
_SIGNATURE_BYTES = 64
_REMEMBERED = 1024  # proofs: the same part comes in several carriers, and with each call of a request

_Point = tuple[int, int, int]  # x, y and z in Jacobian coordinates; z is 0 at infinity
_INFINITY = (1, 1, 0)


def public_verifier(text: str) -> WireVerifier | None:
    """Of a public key as `openssl ec -pubout` writes it: PEM, or DER in base64. None if it is none of the curve."""
    try:
        match = _PEM.fullmatch(text)
        der = base64.b64decode("".join((match[1] if match else text).split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(der) != len(_HEAD) + 64 or not der.startswith(_HEAD):
        return None
    x, y = (int.from_bytes(der[at : at + 32], "big") for at in (len(_HEAD), len(_HEAD) + 32))
    if x >= PRIME or y >= PRIME or (y * y - x**3 + 3 * x - _B) % PRIME:
        return None

    @lru_cache(maxsize=_REMEMBERED)
    def verify(text: bytes, signature: bytes) -> bool:
        return _way_to_verify(der, (x, y))(text, signature)

    return WireVerifier("e", verify)


@lru_cache(maxsize=4)
def _way_to_verify(der: bytes, point: tuple[int, int]) -> Callable[[bytes, bytes], bool]:
    """Chosen when the first plan comes: a service that sees none loads nothing and computes nothing."""
    return _verified_elsewhere(der) or _verified_here(point)


def _verified_elsewhere(der: bytes) -> Callable[[bytes, bytes], bool] | None:
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 -- the host may have it; we must not need it
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature  # noqa: PLC0415
        from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
        from cryptography.hazmat.primitives.serialization import load_der_public_key  # noqa: PLC0415

        key: Any = load_der_public_key(der)
        algorithm = ec.ECDSA(SHA256())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 -- half installed, too old, a panic of Rust: we can do without
        return None

    def verify(text: bytes, signature: bytes) -> bool:
        numbers = _numbers(signature)
        if numbers is None:
            return False
        try:
            key.verify(encode_dss_signature(*numbers), text, algorithm)
        except InvalidSignature:
            return False
        return True

    return verify


def _verified_here(point: tuple[int, int]) -> Callable[[bytes, bytes], bool]:
    tables = (_multiples(_GENERATOR), _multiples(point))

    def verify(text: bytes, signature: bytes) -> bool:
        numbers = _numbers(signature)
        if numbers is None:
            return False
        r, s = numbers
        digest = int.from_bytes(hashlib.sha256(text).digest(), "big")
        inverse = pow(s, -1, ORDER)
        x, _, z = _sum_of_products(((digest * inverse % ORDER, tables[0]), (r * inverse % ORDER, tables[1])))
        # x / z² is congruent to r, without a division: r may stand for r + ORDER, too, where that is below PRIME.
        return z != 0 and any((each * z * z - x) % PRIME == 0 for each in (r, r + ORDER) if each < PRIME)

    return verify


def _numbers(signature: bytes) -> tuple[int, int] | None:
    r, s = (int.from_bytes(signature[at : at + 32], "big") for at in (0, 32))
    return (r, s) if len(signature) == _SIGNATURE_BYTES and 0 < r < ORDER and 0 < s < ORDER else None


def _multiples(point: tuple[int, int]) -> list[_Point]:
    """For each window of a scalar, the point times what may stand in it: none to 15, then 0 to 15 times 16, …"""
    found: list[_Point] = []
    base: _Point = (*point, 1)
    for _ in range(0, 256, _WINDOW):
        found.append(_INFINITY)
        for _ in range((1 << _WINDOW) - 1):
            found.append(_added(found[-1], base))
        base = _added(found[-1], base)
    return found


def _sum_of_products(factors: Sequence[tuple[int, Sequence[_Point]]]) -> _Point:
    total: _Point = _INFINITY
    for scalar, multiples in factors:
        for window in range(256 // _WINDOW):
            digit = scalar >> window * _WINDOW & ((1 << _WINDOW) - 1)
            total = _added(total, multiples[(window << _WINDOW) + digit])
    return total


def _added(one: _Point, other: _Point) -> _Point:
    """Jacobian coordinates: https://hyperelliptic.org/EFD/g1p/auto-shortw-jacobian-3.html, add-1998-cmo-2."""
    (x1, y1, z1), (x2, y2, z2) = one, other
    if not z1:
        return other
    if not z2:
        return one
    square1, square2 = z1 * z1 % PRIME, z2 * z2 % PRIME
    u1, u2 = x1 * square2 % PRIME, x2 * square1 % PRIME
    s1, s2 = y1 * z2 * square2 % PRIME, y2 * z1 * square1 % PRIME
    if u1 == u2:
        return _doubled(one) if s1 == s2 else _INFINITY
    height, slope = u2 - u1, s2 - s1
    square = height * height % PRIME
    cube, v = height * square % PRIME, u1 * square % PRIME
    x3 = (slope * slope - cube - 2 * v) % PRIME
    return x3, (slope * (v - x3) - s1 * cube) % PRIME, height * z1 * z2 % PRIME


def _doubled(point: _Point) -> _Point:
    """The same source, dbl-1998-cmo-2 with a = -3."""
    x, y, z = point
    square = y * y % PRIME
    product = 4 * x * square % PRIME
    slope = 3 * (x - z * z) * (x + z * z) % PRIME
    x3 = (slope * slope - 2 * product) % PRIME
    return x3, (slope * (product - x3) - 8 * square * square) % PRIME, 2 * y * z % PRIME
