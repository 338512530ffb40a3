"""Takes secrets out of exchanges before they are written.

A secret becomes `masked-` and a digest of it under a key that this process alone has, and that is never written: equal
secrets stay equal, so that a token can be followed from the login to its uses, and nothing can be looked up or guessed.

Secret are the values of cookies and of authorization headers, of fields with a telling name, numbers of payment cards,
passwords and signatures in URLs, private keys, and any of those again wherever else in the exchange they stand, and as
a field of a later exchange. A body that is compressed in a way that cannot be read is not kept: nobody knows what is in
it. What is JSON, XML or multipart stays so. A secret that is a segment of a path is not told from a name unless it was
seen elsewhere before.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from html import unescape
from itertools import pairwise
from typing import Literal
from urllib.parse import quote_plus, unquote_plus

from cutset.model.exchange import Exchange
from cutset.workload.values.fields import MAX_TEXT, Change, Message, inflated, request_of, response_of, rewrite
from cutset.workload.values.identifiers import MASKED, RANDOM_SHAPES, shape_of

DIGEST_CHARACTERS = 16
FOLLOWED_CHARACTERS = 8  # a shorter secret is masked where its name tells, and not taken for a word elsewhere
REMEMBERED = 100_000  # secrets, as digests, that are recognised in later exchanges

_NAMES = frozenset(
    {"password", "passwd", "passphrase", "pwd", "pin", "otp", "secret", "token", "jwt", "apikey", "csrf", "xsrf"}
    | {"credential", "credentials", "cvv", "cvc", "ssn"}
)
_PAIRS = ("api key", "access key", "private key", "card number", "session id")
_ENDINGS = ("password", "passwd", "secret", "token", "apikey")  # of words such as `csrfmiddlewaretoken`
# In a URL alone: elsewhere a code is a status or a product, and a key is the name of something.
_NAMES_IN_URLS = frozenset({"sig", "auth", "key", "session", "code", "signature"})
_HEADERS = frozenset({"authorization", "proxy-authorization"})
_SCHEMES = frozenset({"bearer", "basic", "digest", "token", "apikey", "negotiate", "hmac", "signature"})

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
# Not 1 at the beginning: milliseconds since 1970 are as long.
_CARD = re.compile(r"(?<![\w.-])(?:[3-6]|2[2-7])(?:[ -]?\d){12,18}(?![\w.-])", re.ASCII)
_STRING = r'"(?:[^"\\]|\\.)*+'
_JSON_VALUE = re.compile(rf'(?:({_STRING}")(\s*+:\s*+))?({_STRING}(?:"|\Z)|-?\d[\d.eE+-]*+)', re.DOTALL)
_PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----\s*+)(.+?)(?=\r?\n?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_URL_PASSWORD = re.compile(r"""(://[^\s/?#:@"'<>]{0,256}:)([^\s/?#"'<>]{1,256})(?=@)""")
_URL_PARAMETER = re.compile(r"""((?:[?#]|&(?:amp;)?)([\w.%~-]{1,64})=)([^\s&#"'<>\\]++)""")
_PART = re.compile(
    r"""(content-disposition:[^\r\n]{0,200}?[ ;]name="?([^"\r\n;]{1,200})[^\r\n]*+\r?\n(?:[^\r\n]++\r?\n)*+\r?\n)"""
    r"""(.+?)(?=\r?\n--|\Z)""",
    re.IGNORECASE | re.DOTALL,
)
_ELEMENT = re.compile(
    r"(<([\w:.-]{1,64})(?:\s[^<>]{0,2000})?(?<!/)>\s*+(?:<!\[CDATA\[)?)([^<>]*?[^<>\s])(?=\s*(?:\]\]>\s*)?</)"
)
_TAG = re.compile(r"<\w[^<>]{1,4000}>")
_ATTRIBUTE = re.compile(r"""(([\w:.-]{1,64})\s{0,9}=\s{0,9}(?:"(?=[^"]+")|'(?=[^']+')))([^"']+)""")
# In text that is none of these, such as SQL, GraphQL, or JSON that was cut short. Quotes may have been escaped, with
# backslashes or by doubling them; what stands for a value that is given elsewhere (`$1`, `%s`, `?`) is no secret.
_NAMED = re.compile(
    r"""((?:pass(?:word|wd|phrase)|pwd|secret|token|(?:api|access|private)[_-]?key)(?:\\*["'])?\s{0,9}[:=]\s{0,9})"""
    r"""(?:(\\*["'])((?:(?<!\\)\2\2|(?!(?<!\\)\2).)++)"""
    r"""|(?!(?:true|false|null|none|undefined|\$\w+|%s|\?)(?![^\s,;)}\]]))([^"'\s,;&<>{}\[\]()\\]+))""",
    re.IGNORECASE | re.DOTALL,
)
_NAME_END = re.compile(r"\$?[\w-]+$|\$$")
_NAME_CHARACTERS = 64
_GRAPHQL_TYPE = re.compile(r"[A-Z]\w*!?")

_Sign = Literal["none", "maybe", "sure"]  # what the place of a value says about its being a secret
_Secret = Callable[[str, str, _Sign], str]  # what to write, given a name, a value, and the sign


def masker(*, also: Collection[str] = (), not_these: Collection[str] = ()) -> Callable[[Exchange], Exchange]:
    """`also` and `not_these` are names of fields, headers or cookies, whatever their case."""
    key = secrets.token_bytes(32)
    known: dict[str, None] = {}
    also, not_these = ({name.lower() for name in names} for names in (also, not_these))

    def mask(exchange: Exchange) -> Exchange:
        found: dict[str, str] = {}
        kept: set[str] = set()

        def new_value(given_names: Collection[str], value: str, sign: _Sign) -> str:
            names = {name.lower() for name in given_names}
            if names & not_these:
                kept.add(value)
                return value
            is_sure = sign == "sure" or bool(names & also) or _digest(value, key) in known
            if value.startswith(MASKED) or not (is_sure or sign == "maybe"):
                return value
            # What only might be a secret may be a word too, that would then be masked all over the recording.
            if is_sure or shape_of(value) in RANDOM_SHAPES:
                found[value] = _digest(value, key)
            return _digest(value, key)

        def in_text(name: str, value: str, sign: _Sign) -> str:
            names = {name, name.rpartition(":")[2]}  # in XML also without its namespace
            return new_value(names, value, "sure" if _is_card(value) and value not in kept else sign)

        result = _masked_exchange(
            exchange, lambda place, value: new_value(_names(place), value, _sign_of_place(place, value)), in_text, found
        )
        known.update((digest, None) for value, digest in found.items() if len(value) >= FOLLOWED_CHARACTERS)
        while len(known) > REMEMBERED:
            del known[next(iter(known))]
        return result

    return mask


FieldMasker = Callable[[str, bytes], bytes]  # the body, given its content type


def field_masker() -> FieldMasker:
    """For answers that are compared with each other: fields with a telling name, equal secrets alike, nothing else."""
    key = secrets.token_bytes(32)

    def change(place: str, value: str) -> str:
        return _digest(value, key) if _sign_of_place(place, value) == "sure" else value

    return lambda content_type, body: rewrite(Message((("content-type", content_type),), body), change).body


def _digest(value: str, key: bytes) -> str:
    digest = hashlib.blake2b(value.encode(errors="surrogatepass"), key=key, digest_size=DIGEST_CHARACTERS // 2)
    return MASKED + digest.hexdigest()


def _masked_exchange(exchange: Exchange, change: Change, secret: _Secret, found: Mapping[str, str]) -> Exchange:
    """`found` are the secrets that `change` and `secret` have met so far, with what is written for each."""

    def follow(text: str) -> str:
        for value in followed:
            text = text.replace(value, found[value])
        return text

    request, response = request_of(exchange), response_of(exchange)
    plain_request, plain_response = inflated(request), inflated(response)
    messages = [plain_request or replace(request, body=b""), plain_response or replace(response, body=b"")]
    messages += [Message((), body) for each in exchange.operations for body in (each.request, each.response)]
    messages = [rewrite(message, change) for message in messages]
    messages = [_edited(message, partial(_mask_text, secret=secret), secret) for message in messages]
    # The longest first: one secret may be part of another.
    followed = sorted((value for value in found if len(value) >= FOLLOWED_CHARACTERS), key=len, reverse=True)
    if followed:
        messages = [_edited(message, follow, secret) for message in messages]
    request, response, *others = messages
    return replace(
        exchange,
        path=request.path,
        request_headers=request.headers,
        request_body=request.body,
        response_headers=response.headers,
        response_body=response.body,
        truncated=exchange.truncated or plain_request is None or plain_response is None,
        operations=tuple(
            replace(each, request=asked.body, response=answered.body)
            for each, asked, answered in zip(exchange.operations, others[::2], others[1::2], strict=True)
        ),
    )


def _names(place: str) -> list[str]:
    """Of a field and of all that it is in; of a segment of a path or link none."""
    kind, _, rest = place.partition("/")
    if kind in {"path", "link"}:
        return []
    return [re.sub(r"[:#][\d:#]+$", "", name) for name in rest.split("/")]


def _sign_of_place(place: str, value: str) -> _Sign:
    names = _names(place)
    if not _HEADERS.isdisjoint(names):
        return "none" if value.lower() in _SCHEMES else "sure"
    if place.startswith("cookie/") or any(map(_is_telling, names)) or _is_card(value):
        return "sure"
    return _sign_in_url(names[0]) if place.startswith("query/") else "none"


def _sign(name: str) -> _Sign:
    return "sure" if _is_telling(name) else "none"


def _sign_in_url(name: str) -> _Sign:
    might_be = name.lower() in _NAMES_IN_URLS or name.lower().endswith("-signature")
    return "sure" if _is_telling(name) else "maybe" if might_be else "none"


def _is_telling(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    return any(word in _NAMES or word.endswith(_ENDINGS) for word in words) or any(pair in _PAIRS for pair in pairs)


def _is_card(value: str) -> bool:
    """By its length, its beginning and Luhn's checksum."""
    if not _CARD.fullmatch(value):
        return False
    digits = [int(character) for character in value if character.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _edited(message: Message, edit: Callable[[str], str], secret: _Secret) -> Message:
    body = message.body.decode(errors="surrogateescape")  # so that bytes that are no text come back as they were
    return Message(
        path=edit(message.path),
        headers=tuple((name, _edit_content(value, edit, secret)) for name, value in message.headers),
        body=_edit_content(body, edit, secret).encode(errors="surrogateescape"),
    )


def _edit_content(text: str, edit: Callable[[str], str], secret: _Secret) -> str:
    """Strings of JSON are edited as what they mean: an edit of how they are written would break them."""
    if text.lstrip()[:1] not in {"{", "["}:
        return edit(text)

    def value_of_json(match: re.Match[str]) -> str:
        name, colon, raw = match[1] or '""', match[2] or "", match[3]
        try:
            value = json.loads(raw if raw[0] != '"' or (len(raw) > 1 and raw[-1] == '"') else raw + '"', strict=False)
            key = json.loads(name, strict=False)
        except ValueError:
            return match[0]
        before = str(value)
        new = secret(key, before, _sign(key)) if before else before
        if isinstance(value, str) and new == value:
            new = _edit_content(value, edit, secret)
        new_key = edit(key)
        written_name = (name if new_key == key else json.dumps(new_key)) if colon else ""
        return written_name + colon + (raw if new == before else json.dumps(new))

    strings_edited = _JSON_VALUE.sub(value_of_json, text)
    return strings_edited if _is_json(text) else edit(strings_edited)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _mask_text(text: str, secret: _Secret) -> str:
    """Mask what only the text around it shows to be secret."""

    def parameter(match: re.Match[str]) -> str:
        name, value = unquote_plus(match[2]), unquote_plus(match[3])
        new = secret(name, value, _sign_in_url(name))
        if new == value != match[3] and len(value) <= MAX_TEXT:  # it may be a URL that was encoded, and so on
            new = _mask_text(value, secret)
        return match[0] if new == value else match[1] + quote_plus(new)

    def named(match: re.Match[str]) -> str:
        before, quotes, value = match[1], match[2] or "", match[3] or match[4]
        # The pattern begins at the word that tells: one that looked for the whole name would take forever on long text.
        start = "".join(_NAME_END.findall(text_so_far[max(0, match.start() - _NAME_CHARACTERS) : match.start()]))
        if start.startswith("$") and _GRAPHQL_TYPE.fullmatch(value):
            return match[0]
        name = start.lstrip("$") + re.split(r"[^\w-]", before, maxsplit=1)[0]
        return before + quotes + secret(name, value, "maybe")

    text = _PRIVATE_KEY.sub(lambda match: match[1] + secret("", match[2], "maybe"), text)
    text = _URL_PASSWORD.sub(lambda match: match[1] + secret("", match[2], "maybe"), text)
    text = _URL_PARAMETER.sub(parameter, text)
    text = _PART.sub(lambda match: match[1] + secret(match[2], match[3], _sign(match[2])), text)
    text = _ELEMENT.sub(partial(_masked_markup, secret=secret), text)
    text = _TAG.sub(lambda tag: _ATTRIBUTE.sub(partial(_masked_markup, secret=secret), tag[0]), text)
    text_so_far = text
    text = _NAMED.sub(named, text)
    return _CARD.sub(lambda match: secret("", match[0], "none"), text)


def _masked_markup(match: re.Match[str], secret: _Secret) -> str:
    value = unescape(match[3])
    new = secret(match[2], value, _sign(match[2]))
    return match[0] if new == value else match[1] + new
