"""Which words look like identifiers by themselves: `mask` for paths, `mask_name` for names of spans.

Certain, nothing is learned. A `*` stands for one whole segment, also for `order-1234` and `app.3f2a1b.js`, as in the
names that sidecars give to APIs (`cutset_agent.wire.normalise_api`): whoever reads a template needs no second rule.
What sidecars mask is masked here, except versions and technical terms (`v1beta1`, `oauth2`), which they take for
identifiers. So `normalise_api` of a template is the sidecars' name, or one that covers it.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import unquote

from cutset_agent.wire import normalise_api

MAX_SEGMENTS = 32  # of a path; what is deeper becomes one `*`
MAX_CHARACTERS = 80  # of a segment: nobody names a route so; and it bounds what is remembered

_LANGUAGES_TEXT = (  # ISO 639-1
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el "
    "en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu "
    "ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na "
    "nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so "
    "sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_LANGUAGES = frozenset(_LANGUAGES_TEXT.split())

_TERMS_TEXT = (  # words that have digits and are no identifiers
    "2fa 3ds2 3dsecure a11y aes128 aes192 aes256 auth0 b2b b2c base16 base32 base58 base64 covid19 ed25519 es256 "
    "h264 h265 hmac256 hs256 hs512 http2 http3 i18n ipv4 ipv6 iso8601 iso88591 k8s l10n log4j m365 md5 mp3 mp4 "
    "oauth1 oauth2 oauth20 office365 p256 pkcs12 rfc3339 rs256 rs512 rsa2048 rsa4096 s3 saml2 secp256k1 sha1 sha224 "
    "sha256 sha384 sha3 sha512 top10 top100 utf16 utf32 utf8 web2 web3 win32 win64 x509 x86 x8664"
)
_TERMS = frozenset(_TERMS_TEXT.split())

_VERSION = re.compile(r"v\d{1,4}(?:[._]\d{1,3})*(?:(?:alpha|beta|rc|preview|p)\d{0,3})*", re.ASCII | re.IGNORECASE)
_SCRIPT_AND_REGION = re.compile(r"(?:[-_][a-z]{4})?(?:[-_](?:[a-z]{2}|\d{3}))?", re.ASCII | re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*")
_NOT_IN_ROUTES = re.compile(r"[\s\x00-\x20\x7f\"<>{}|\\^`/?#%\ufffd]")
_ADDRESS = re.compile(
    r"[^@]+@[^@.]+(?:\.[^@.]+)*\.[A-Za-z]{2,}"  # e-mail
    r"|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|(?=.*\d)[0-9A-Fa-f:]*::[0-9A-Fa-f:.]*"  # IP
)
_OTHER_IDENTIFIER = re.compile(r":[A-Za-z_]\w*|[\w+-]{6,}={1,2}|\d+(?:,\d+)+")  # placeholder, Base64, list
_TOKEN = re.compile(r"[^\W_]+")
_TERM_INSIDE = re.compile(
    rf"(?<!\d)(?:{'|'.join(sorted((term for term in _TERMS if len(term) > 3), reverse=True))})(?!\d)", re.IGNORECASE
)
_IDENTIFYING = re.compile(r"\d{3}|^(?=.{6})(?:(?=.*\d)[0-9A-Fa-f]+$|.*\d[A-Za-z]{1,2}\d)")
_WORD_OF_NAME = re.compile(r"\S+")
_RPC_NAME = re.compile(r"/?(?:\w+\.)+[A-Z]\w*/[A-Za-z_]\w*")
_HOST = re.compile(r"(?:[A-Za-z][\w+.-]*://)?(?:[A-Za-z][\w.-]*(?::\d{1,5})?)?(?=/)")
_ROUTE = re.compile(r"/(?:\{|<|:[A-Za-z_])")
_NUMBER_IN_WORD = re.compile(r"(?=.*[a-z])[A-Za-z]{3,}\d[A-Za-z]{3,}")
_UUID_OR_TIME = re.compile(
    r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b|\b\d{4}-\d\d-\d\d(?!\d)(?:[T_]\d\d[\d:.,+-]*Z?)?"
)
_WHOLE_WORD_IDENTIFIER = re.compile(r"\d+|(?=.*\d)[0-9A-Fa-f-]{8,}")


def mask(path: str) -> str:
    """The path without query, fragment and matrix parameters, and with `*` for segments that look like identifiers.

    Empty segments stay: to a server that redirects, `/items/` is another request than `/items`.
    """
    return "/".join(masked_segments(path)) or "/"


def mask_name(name: str) -> str:
    """A span's name with its paths masked and `*` for other identifiers: `process order *`.

    Names are free text that somebody wrote into a program, and no sidecar knows them: parts of words are masked as well
    (`order-*`), routes stay as they are (`/orders/{id}`), and so do words around a digit (`travel2service`).
    """
    return _WORD_OF_NAME.sub(lambda word: _masked_word(word[0]), _UUID_OR_TIME.sub("*", name))


def _masked_word(word: str) -> str:
    if _RPC_NAME.fullmatch(word) or _ROUTE.search(word):
        return word
    if "/" in word:
        host = _HOST.match(word)  # its port is no identifier
        start = host.end() if host else 0
        segments = masked_segments(
            word[start:], lambda part: not _NUMBER_IN_WORD.fullmatch(part) and looks_like_id(part)
        )
        return word[:start] + "/".join(segments)
    if _WHOLE_WORD_IDENTIFIER.fullmatch(word) or _ADDRESS.fullmatch(word):
        return "*"
    return _TOKEN.sub(lambda token: "*" if _identifies(token[0]) else token[0], word)


@lru_cache(maxsize=1 << 16)
def looks_like_id(segment: str) -> bool:
    if segment.isdecimal():
        return True
    if "%" in segment:
        segment = unquote(segment)
    if normalise_api("", segment, grpc=False) == f" {segment}":
        if _PLAIN.fullmatch(segment):
            return False  # most are, so that the rest need not be fast
        if not (
            _NOT_IN_ROUTES.search(segment)  # somebody's text
            or _ADDRESS.fullmatch(segment)
            or _OTHER_IDENTIFIER.fullmatch(segment)
            or any(map(_identifies, _TOKEN.findall(segment)))
        ):
            return False
    return not is_term(segment)


def masked_segments(path: str, is_id: Callable[[str], bool] = looks_like_id) -> list[str]:
    path = path.partition("?")[0].partition("#")[0]
    segments = path.split("/", MAX_SEGMENTS)
    if len(segments) > MAX_SEGMENTS:
        segments[MAX_SEGMENTS - 1 :] = ["*"]
    if ";" in path:
        segments = [segment.partition(";")[0] for segment in segments]
    if len(path) > MAX_CHARACTERS:  # before they are cached
        segments = [segment if len(segment) <= MAX_CHARACTERS else "*" for segment in segments]
    return ["*" if segment and is_id(segment) else segment for segment in segments]


def is_term(segment: str) -> bool:
    plain = segment.lower().replace("-", "").replace("_", "")
    return plain in _TERMS or is_version(segment) or is_locale(segment)


def _identifies(token: str) -> bool:
    """Whether a part of a segment makes it an identifier: `1234` in `order-1234`, `3f2a1b` in `app.3f2a1b.js`."""
    return bool(_IDENTIFYING.search(token) and _IDENTIFYING.search(_TERM_INSIDE.sub("", token)))


def is_version(word: str) -> bool:
    return _VERSION.fullmatch(word) is not None


def is_locale(word: str) -> bool:
    return word[:2].lower() in _LANGUAGES and _SCRIPT_AND_REGION.fullmatch(word, 2) is not None
