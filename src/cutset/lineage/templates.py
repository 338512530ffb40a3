"""Which segments of request paths are variable, where no `http.route` says so (CAST §3.3).

CAST clusters request lines with Drain, which compares lines of equal length word by word and so merges
`POST /cart/checkout` with `POST /cart/empty`. Here a segment becomes `*` for one of three reasons only:

1. it looks like an identifier by itself (`mask`: certain, nothing is learned);
2. it is one of many words in its place, and what follows below them is alike (users' names, articles' slugs);
3. it is a locale among locales.

A `*` stands for one whole segment, also for `order-1234` and `app.3f2a1b.js`, as in the names that sidecars give to
APIs (`cutset_agent.wire.normalise_api`): whoever reads a template needs no second rule. What sidecars mask is masked
here, except versions and technical terms (`v1beta1`, `oauth2`), which they take for identifiers. So `normalise_api` of
a template is the sidecars' name, or one that covers it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nsmallest
from urllib.parse import unquote
from zlib import crc32

from cutset_agent.wire import normalise_api

MANY_SLUGS = 10  # the same of words such as `how-to-fold-a-shirt`, which few APIs have for resources
MANY = 50  # words in one place before they can be variable: few APIs have as many resources side by side
HUGE = 200  # nobody writes as many routes side by side: what follows below the words need not be alike any more
_SHARED = 3  # words that lead to the same thing, before it counts as common to all
_LOOKAHEAD = 3  # segments below a word that are compared

MAX_SEGMENTS = 32  # of a path; what is deeper becomes one `*`
_MAX_CHARACTERS = 80  # of a segment: nobody names a route so; and it bounds what is remembered

# How many paths are remembered of each stratum of a service, and how many strata there are: see `_bounded`.
_SAMPLE = 256  # more than HUGE
_BUCKETS = 64
_LEVELS = 8
_MAX_ROUTES = 100_000

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

# What sites with a page per user do not give away as a name, and what APIs put beside the items of a collection.
_ROUTE_WORDS_TEXT = (
    "about account accounts active activate add admin all api apis archive assets auth autocomplete available batch "
    "billing bulk callback cancel cart categories check checkout config contact count create css current dashboard "
    "default delete docs download edit empty events explore export favicon.ico featured feed feedback files filter "
    "find fonts graphql health healthz help history home images import inbox index index.html info internal invite "
    "invites jobs js latest list live livez login logout me media messages metrics mine my new notifications oauth "
    "oauth2 openapi.json orders password pending ping popular preferences preview pricing privacy private products "
    "profile public query random ready readyz recent recommendations register remove reset robots.txt rss save "
    "search security self session sessions settings share signin signout signup sitemap.xml sso static stats status "
    "submit subscribe suggest summary support swagger sync tags teams terms test token top trending unsubscribe "
    "update upload user users validate verify version webhook webhooks whoami"
)
_ROUTE_WORDS = frozenset(_ROUTE_WORDS_TEXT.split())
_ACTIONS = (
    "accept|add|approve|archive|assign|cancel|check|close|confirm|copy|count|create|delete|disable|download|edit|"
    "enable|end|execute|export|fetch|find|get|has|import|insert|invite|is|join|kick|leave|list|load|lock|login|"
    "logout|lookup|make|mark|move|open|post|publish|put|query|read|refresh|register|reject|remove|rename|reset|"
    "resolve|restore|revoke|run|save|search|select|send|set|share|start|stop|submit|sync|test|unlock|unset|update|"
    "upload|upsert|validate|verify"
)

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
_PROGRAM = re.compile(r"\.(?:php|jspx?|jsf|aspx?|ashx|asmx|cgi|do|action|cfm)$", re.IGNORECASE)
_ACTION = re.compile(rf"(?:.*[._-])?(?:{_ACTIONS})(?![a-z])")

_SLUG = re.compile(r"[^\W_][-_](?=[^\W_])")  # where a word of a slug ends
_PLACEHOLDER = re.compile(r"\{[^{}*]+\}|:\w+|<[^<>]+>|\*|\$\w+")  # as frameworks write a variable segment of a route
_WORD_OF_NAME = re.compile(r"\S+")
_RPC_NAME = re.compile(r"/?(?:\w+\.)+[A-Z]\w*/[A-Za-z_]\w*")
_HOST = re.compile(r"(?:[A-Za-z][\w+.-]*://)?(?:[A-Za-z][\w.-]*(?::\d{1,5})?)?(?=/)")
_ROUTE = re.compile(r"/(?:\{|<|:[A-Za-z_])")
_NUMBER_IN_WORD = re.compile(r"(?=.*[a-z])[A-Za-z]{3,}\d[A-Za-z]{3,}")
_UUID_OR_TIME = re.compile(
    r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b|\b\d{4}-\d\d-\d\d(?!\d)(?:[T_]\d\d[\d:.,+-]*Z?)?"
)
_WHOLE_WORD_IDENTIFIER = re.compile(r"\d+|(?=.*\d)[0-9A-Fa-f-]{8,}")

# Segments by what comes before them. The end of a path is an entry too: a blank, which no segment has, and the method.
_Trie = dict[str, "_Trie"]


@dataclass(frozen=True, slots=True)
class PathCounts:
    """What is remembered of the paths so far; of no service more than 131,072.

    It depends on the set of paths alone, not on their order nor on how they were split and merged.
    """

    paths: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by service: masked path, blank, method
    routes: frozenset[tuple[str, str]] = frozenset()  # method and route, of those who name them


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in paths below which something varies."""

    following: Mapping[str, "_Place"] = field(default_factory=dict)  # by segment, also by `*`
    words_vary: bool = False  # all words but those of `following` and those that are always part of a route
    locales_vary: bool = False

    def varies(self, word: str) -> bool:
        return (self.words_vary and not _is_fixed(word)) or (self.locales_vary and _is_locale(word))


@dataclass(frozen=True, slots=True)
class Templates:
    services: Mapping[str, _Place]
    # By method, number of segments and first segment (or `*`): the segments of routes, with `*` for variable ones.
    routes: Mapping[tuple[str, int, str], tuple[tuple[tuple[str, ...], str], ...]]

    def template(self, service: str, method: str, path: str) -> str:
        """`/product/*/reviews` for `/product/lamp/reviews?page=2`; or the one route that it fits best, if there is one.

        Some servers name their routes and some clients know only paths: both must call the same API the same.
        """
        if route := self._route(method, path):
            return route
        segments = _masked_segments(path)
        place = self.services.get(service)
        for position, word in enumerate(segments):
            if place is None:
                break
            following = place.following.get(word)
            if following is None and place.varies(word):
                segments[position] = "*"
                following = place.following.get("*")
            place = following
        return "/".join(segments) or "/"

    def _route(self, method: str, path: str) -> str:
        segments = path.partition("?")[0].partition("#")[0].strip("/").split("/")
        best, most = [""], -1
        for first in (segments[0], "*"):
            for pattern, route in self.routes.get((method, len(segments), first), ()):
                if all(part in ("*", segment) for part, segment in zip(pattern, segments, strict=True)):
                    literal = len(pattern) - pattern.count("*")
                    best = [*best, route] if literal == most else [route] if literal > most else best
                    most = max(most, literal)
        return best[0] if len(best) == 1 else ""


def learn(counts: Iterable[tuple[str, str, str, int]], routes: Iterable[tuple[str, str]] = ()) -> PathCounts:
    """From service, method, path and count of spans without a route; and from the methods and routes of the others.

    How often a path was requested is no evidence: a robot asks for one user a million times. How many there are is.
    """
    paths: defaultdict[str, set[str]] = defaultdict(set)
    room: defaultdict[str, int] = defaultdict(lambda: 8 * _SAMPLE)
    for service, method, path, _count in counts:
        known = paths[service]
        known.add(f"{mask(path)} {method[:_MAX_CHARACTERS]}")
        if len(known) > room[service]:
            paths[service] = set(_bounded(known))
            room[service] = max(8 * _SAMPLE, 4 * len(paths[service]))
    return PathCounts({service: _bounded(known) for service, known in paths.items()}, _bounded_routes(routes))


def merge(first: PathCounts, second: PathCounts) -> PathCounts:
    merged = dict(first.paths)
    for service, paths in second.paths.items():
        merged[service] = _bounded(merged[service] | paths) if service in merged else paths
    return PathCounts(merged, _bounded_routes(first.routes | second.routes))


def templates_of(counts: PathCounts) -> Templates:
    places = {service: _place(_trie(counts.paths[service])) for service in sorted(counts.paths)}
    routes: defaultdict[tuple[str, int, str], list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    for method, route in sorted(counts.routes):
        pattern = tuple("*" if _PLACEHOLDER.fullmatch(part) else part for part in route.strip("/").split("/"))
        # What fits everything tells nothing.
        if pattern.count("*") < len(pattern) and not any("**" in part or part.endswith("*}") for part in pattern):
            routes[method, len(pattern), pattern[0]].append((pattern, route))
    return Templates(
        {service: place for service, place in places.items() if place is not None},
        {key: tuple(found) for key, found in routes.items()},
    )


def mask(path: str) -> str:
    """The path without query, fragment and matrix parameters, and with `*` for segments that look like identifiers.

    Empty segments stay: to a server that redirects, `/items/` is another request than `/items`.
    """
    return "/".join(_masked_segments(path)) or "/"


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
        segments = _masked_segments(
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
    return not _is_term(segment)


def _masked_segments(path: str, is_id: Callable[[str], bool] = looks_like_id) -> list[str]:
    path = path.partition("?")[0].partition("#")[0]
    segments = path.split("/", MAX_SEGMENTS)
    if len(segments) > MAX_SEGMENTS:
        segments[MAX_SEGMENTS - 1 :] = ["*"]
    if ";" in path:
        segments = [segment.partition(";")[0] for segment in segments]
    if len(path) > _MAX_CHARACTERS:  # before they are cached
        segments = [segment if len(segment) <= _MAX_CHARACTERS else "*" for segment in segments]
    return ["*" if segment and is_id(segment) else segment for segment in segments]


def _is_term(segment: str) -> bool:
    plain = segment.lower().replace("-", "").replace("_", "")
    return plain in _TERMS or _VERSION.fullmatch(segment) is not None or _is_locale(segment)


def _identifies(token: str) -> bool:
    """Whether a part of a segment makes it an identifier: `1234` in `order-1234`, `3f2a1b` in `app.3f2a1b.js`."""
    return bool(_IDENTIFYING.search(token) and _IDENTIFYING.search(_TERM_INSIDE.sub("", token)))


def _is_locale(word: str) -> bool:
    return word[:2].lower() in _LANGUAGES and _SCRIPT_AND_REGION.fullmatch(word, 2) is not None


def _is_fixed(word: str) -> bool:
    """Whether a word is part of a route even where hundreds of others are variable."""
    return word in _ROUTE_WORDS or not word or _VERSION.fullmatch(word) is not None or _PROGRAM.search(word) is not None


def _bounded(paths: Iterable[str]) -> frozenset[str]:
    """A part of the paths that does not depend on what was left out before, so that samples of samples are samples.

    For each number of leading segments, paths are dealt out to strata by the checksum of their method and those
    segments, and of each stratum the `_SAMPLE` paths with the smallest checksums remain. So millions of articles below
    `/blog` leave room for the hundred users below `/users`, who are in other strata as soon as the first word decides.
    """
    paths = frozenset(paths)
    if len(paths) <= _SAMPLE:
        return paths
    strata: defaultdict[tuple[int, int], list[tuple[int, str]]] = defaultdict(list)
    for path in paths:
        text, _, method = path.encode("utf-8", "surrogatepass").partition(b" ")
        first, *others = text.split(b"/", _LEVELS)
        prefix = crc32(first, crc32(method))
        ranked = (crc32(text, prefix), path)
        strata[0, prefix % _BUCKETS].append(ranked)
        for level, segment in enumerate(others[:-1], start=1):
            prefix = crc32(segment, prefix)
            strata[level, prefix % _BUCKETS].append(ranked)
    return frozenset(path for stratum in strata.values() for _, path in nsmallest(_SAMPLE, stratum))


def _bounded_routes(routes: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """People write routes, and nobody writes as many."""
    found = frozenset(routes)
    return found if len(found) <= _MAX_ROUTES else frozenset(nsmallest(_MAX_ROUTES, found))


def _trie(paths: Iterable[str]) -> _Trie:
    root: _Trie = {}
    for text in sorted(paths):
        path, _, method = text.partition(" ")
        trie = root
        for segment in path.split("/"):
            trie = trie.setdefault(segment, {})
        trie[f" {method}"] = {}
    return root


def _place(trie: _Trie) -> _Place | None:
    """What varies at this place and below it; None if nothing does."""
    if not trie:
        return None
    words = {word: below for word, below in trie.items() if word != "*" and not _is_end(word)}
    free = {word: below for word, below in words.items() if not _is_fixed(word)}
    locales = _variable_locales(free)
    variable = _variable_words({word: below for word, below in free.items() if word not in locales})
    merged = locales | variable
    kept = {word: below for word, below in words.items() if word not in merged}
    kept["*"] = _union([trie.get("*", {}), *(words[word] for word in sorted(merged))])
    places = {word: _place(below) for word, below in kept.items()}
    if merged:  # the words that do not vary have to be listed
        return _Place({word: place or _Place() for word, place in places.items()}, bool(variable), bool(locales))
    following = {word: place for word, place in places.items() if place is not None}
    return _Place(following) if following else None


def _variable_locales(words: Mapping[str, _Trie]) -> set[str]:
    """Three locales that are alone in their place, or locales beside other words that lead to the same things."""
    locales = {word: set(_below(below)) for word, below in words.items() if _is_locale(word)}
    if len(locales) >= 3 and len(locales) == len(words):
        return set(locales)
    holders = Counter(thing for things in locales.values() for thing in things)
    shared = {thing for thing, count in holders.items() if count > 1}
    if all(_is_end(thing) for thing in shared):
        return set()  # `/it` and `/no` may be anything
    alike = {word: things for word, things in locales.items() if 2 * len(things & shared) >= len(things)}
    same = len({frozenset(things) for things in alike.values()}) == 1
    return set(alike) if len(alike) >= 3 or (len(alike) == 2 and same) else set()


def _variable_words(words: Mapping[str, _Trie]) -> set[str]:
    """Those of many words below which there is nothing of their own; of very many, all but those that stand out."""
    many = MANY_SLUGS if 2 * sum(len(_SLUG.findall(word)) > 1 for word in words) > len(words) else MANY
    if len(words) < many or 2 * sum(_ACTION.match(word) is not None for word in words) > len(words):
        return set()  # a method of an RPC interface is named after what it does
    things = {word: set(_below(below)) for word, below in words.items()}
    holders = Counter(thing for below in things.values() for thing in below)
    own = {word: {thing for thing in below if holders[thing] < _SHARED} for word, below in things.items()}
    if len(words) < HUGE:
        # A word right before an identifier is rather the name of a collection.
        variable = {word for word in words if not own[word] and "*" not in words[word]}
    else:
        most = sorted(map(len, own.values()))[len(own) * 95 // 100]
        variable = {word for word, alone in own.items() if len(alone) <= 4 * most + 8 and not any(map(_is_end, alone))}
    return variable if len(variable) >= many else set()


def _below(trie: _Trie, depth: int = _LOOKAHEAD) -> Iterator[str]:
    """All that follows, as far as it is compared."""
    for word, below in trie.items():
        yield word
        if depth > 1:
            for rest in _below(below, depth - 1):
                yield f"{word}/{rest}"


def _is_end(thing: str) -> bool:
    return thing.startswith(" ")


def _union(tries: Iterable[_Trie]) -> _Trie:
    parts: defaultdict[str, list[_Trie]] = defaultdict(list)
    for trie in tries:
        for word, below in trie.items():
            parts[word].append(below)
    return {word: below[0] if len(below) == 1 else _union(below) for word, below in parts.items()}
