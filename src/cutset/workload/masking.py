"""Takes secrets out of exchanges before they are written.

A secret becomes `masked-` and a digest of it under a key that this process alone has, and that is never written: equal
secrets stay equal, so that a token can be followed from the login to its uses, and nothing can be looked up or guessed.

Secret are the values of cookies and of authorization headers, of fields with a telling name, numbers of payment cards,
and any of those again wherever else in the exchange they stand, and as a field of a later exchange. A body that is
compressed in a way that cannot be read is not kept: nobody knows what is in it.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from itertools import pairwise

from cutset.model.exchange import Exchange
from cutset.workload.fields import inflated, request_of, response_of, rewrite
from cutset.workload.identifiers import MASKED

DIGEST_CHARACTERS = 16
FOLLOWED_CHARACTERS = 8  # a shorter secret is masked where its name tells, and not taken for a word elsewhere
REMEMBERED = 100_000  # secrets, as digests, that are recognised in later exchanges

_NAMES = frozenset(
    {"password", "passwd", "passphrase", "pwd", "pin", "otp", "secret", "token", "jwt", "apikey", "csrf", "xsrf"}
    | {"credential", "credentials", "cvv", "cvc", "ssn"}
)
_PAIRS = ("api key", "access key", "private key", "card number", "session id")
_ENDINGS = ("password", "passwd", "secret", "token", "apikey")  # of words such as `csrfmiddlewaretoken`
_HEADERS = frozenset({"authorization", "proxy-authorization"})
_SCHEMES = frozenset({"bearer", "basic", "digest", "token", "apikey", "negotiate", "hmac", "signature"})

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_CARD = re.compile(
    rb"(?<![\w.-])(?:[3-6]|2[2-7])(?:[ -]?\d){12,18}(?![\w.-])"
)  # not 1: milliseconds since 1970 are as long
# In text that is no JSON and no form, such as SQL, or JSON that was cut short.
_NAMED = re.compile(
    rb"""((?:pass(?:word|wd|phrase)|secret|token|api_?key)["']?\s{0,9}[:=]\s{0,9}["']?)"""
    rb"""(?!true\b|false\b|null\b)([^"'\s,;&<>{}\[\]]+)""",
    re.IGNORECASE,
)
_NAME_END = re.compile(rb"[\w-]+$")
_NAME_BYTES = 64


def masker(*, also: Collection[str] = (), not_these: Collection[str] = ()) -> Callable[[Exchange], Exchange]:
    """`also` and `not_these` are names of fields, headers or cookies, whatever their case."""
    key = secrets.token_bytes(32)
    known: dict[str, None] = {}
    also, not_these = ({name.lower() for name in names} for names in (also, not_these))

    def masked(value: str) -> str:
        digest = hashlib.blake2b(value.encode(errors="surrogatepass"), key=key, digest_size=DIGEST_CHARACTERS // 2)
        return MASKED + digest.hexdigest()

    def mask(exchange: Exchange) -> Exchange:
        found: dict[str, str] = {}
        kept: set[str] = set()

        def change(place: str, value: str) -> str:
            names = {name.lower() for name in _names(place)}
            if names & not_these:
                kept.add(value)
                return value
            is_secret = names & also or _is_secret(place, value) or masked(value) in known
            if value.startswith(MASKED) or not is_secret:
                return value
            found[value] = masked(value)
            return found[value]

        request, response = request_of(exchange), response_of(exchange)
        plain_request, plain_response = inflated(request), inflated(response)
        request = rewrite(plain_request or replace(request, body=b""), change)
        response = rewrite(plain_response or replace(response, body=b""), change)
        known.update((digest, None) for value, digest in found.items() if len(value) >= FOLLOWED_CHARACTERS)
        while len(known) > REMEMBERED:
            del known[next(iter(known))]
        text, content = _masks_in_text(found, masked, not_these | kept)
        return replace(
            exchange,
            path=text(request.path),
            request_headers=tuple((name, text(value)) for name, value in request.headers),
            request_body=content(request.body),
            response_headers=tuple((name, text(value)) for name, value in response.headers),
            response_body=content(response.body),
            truncated=exchange.truncated or plain_request is None or plain_response is None,
            operations=tuple(
                replace(each, request=content(each.request), response=content(each.response))
                for each in exchange.operations
            ),
        )

    return mask


def _names(place: str) -> list[str]:
    """Of a field and of all that it is in; of a segment of a path or link none."""
    kind, _, rest = place.partition("/")
    if kind in {"path", "link"}:
        return []
    return [re.sub(r"[:#][\d:#]+$", "", name) for name in rest.split("/")]


def _is_secret(place: str, value: str) -> bool:
    names = _names(place)
    if not _HEADERS.isdisjoint(names):
        return value.lower() not in _SCHEMES
    return place.startswith("cookie/") or any(map(_is_telling, names)) or _is_card(value.encode())


def _is_telling(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    return any(word in _NAMES or word.endswith(_ENDINGS) for word in words) or any(pair in _PAIRS for pair in pairs)


def _masks_in_text(
    found: Mapping[str, str], masked: Callable[[str], str], kept: Collection[str]
) -> tuple[Callable[[str], str], Callable[[bytes], bytes]]:
    """Mask the secrets found where no name tells them, and in content also those that only text shows.

    `kept` are names and values that are not secret.
    """
    # The longest first: one secret may be part of another.
    follow = sorted((value for value in found if len(value) >= FOLLOWED_CHARACTERS), key=len, reverse=True)

    def text(given: str) -> str:
        for value in follow:
            given = given.replace(value, found[value])
        return given

    def named(match: re.Match[bytes]) -> bytes:
        value = match[2].decode(errors="replace")
        # The pattern begins at the word that tells: one that looked for the whole name would take forever on long text.
        before = match.string[max(0, match.start() - _NAME_BYTES) : match.start()]
        name = b"".join(_NAME_END.findall(before)) + re.split(rb"[^\w-]", match[1], maxsplit=1)[0]
        if value.startswith(MASKED) or name.decode(errors="replace").lower() in kept:
            return match[0]
        return match[1] + masked(value).encode()

    def card(match: re.Match[bytes]) -> bytes:
        is_secret = _is_card(match[0]) and match[0].decode() not in kept
        return masked(match[0].decode()).encode() if is_secret else match[0]

    def content(raw: bytes) -> bytes:
        for value in follow:
            raw = raw.replace(value.encode(errors="surrogatepass"), found[value].encode())
        return _CARD.sub(card, _NAMED.sub(named, raw))

    return text, content


def _is_card(raw: bytes) -> bool:
    """By its length, its beginning and Luhn's checksum."""
    if not _CARD.fullmatch(raw):
        return False
    digits = [byte - 48 for byte in raw if 48 <= byte <= 57]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0
