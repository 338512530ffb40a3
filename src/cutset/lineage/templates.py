"""Which segments of request paths are variable, where no `http.route` says so (CAST §3.3).

CAST clusters request lines with Drain, which compares lines of equal length word by word and so merges
`POST /cart/checkout` with `POST /cart/empty`. Here a segment becomes `*` for one of three reasons only:

1. it looks like an identifier by itself (`cutset.lineage.identifiers`);
2. it is one of many words in its place, and what follows below them is alike (users' names, articles' slugs);
3. it is a locale among locales.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from zlib import crc32

from cutset.lineage.identifiers import MAX_CHARACTERS, is_locale, is_version, mask, masked_segments
from cutset.lineage.routes import is_placeholder

MANY_SLUGS = 10  # the same of words such as `how-to-fold-a-shirt`, which few APIs have for resources
MANY = 50  # words in one place before they can be variable: few APIs have as many resources side by side
HUGE = 200  # nobody writes as many routes side by side: what follows below the words need not be alike any more
_SHARED = 3  # words that lead to the same thing, before it counts as common to all
_LOOKAHEAD = 3  # segments below a word that are compared

# How many paths are remembered of each stratum of a service, and how many strata there are: see `_bounded`.
_SAMPLE = 256  # more than HUGE
_BUCKETS = 64
_LEVELS = 8
_MAX_ROUTES = 100_000

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

_PROGRAM = re.compile(r"\.(?:php|jspx?|jsf|aspx?|ashx|asmx|cgi|do|action|cfm)$", re.IGNORECASE)
_ACTION = re.compile(rf"(?:.*[._-])?(?:{_ACTIONS})(?![a-z])")

_SLUG = re.compile(r"[^\W_][-_](?=[^\W_])")  # where a word of a slug ends
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
        return (self.words_vary and not _is_fixed(word)) or (self.locales_vary and is_locale(word))


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
        segments = masked_segments(path)
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
        known.add(f"{mask(path)} {method[:MAX_CHARACTERS]}")
        if len(known) > room[service]:
            paths[service] = set(_bounded(known))
            room[service] = max(8 * _SAMPLE, 4 * len(paths[service]))
    return PathCounts({service: _bounded(known) for service, known in paths.items()}, _bounded_routes(routes))


def merge(*parts: PathCounts) -> PathCounts:
    paths: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for part in parts:
        for service, found in part.paths.items():
            paths[service] |= found
    routes = frozenset[tuple[str, str]]().union(*(part.routes for part in parts))
    return PathCounts({service: _bounded(found) for service, found in paths.items()}, _bounded_routes(routes))


def templates_of(counts: PathCounts) -> Templates:
    places = {service: _place(_trie(counts.paths[service])) for service in sorted(counts.paths)}
    routes: defaultdict[tuple[str, int, str], list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    for method, route in sorted(counts.routes):
        pattern = tuple("*" if is_placeholder(part) else part for part in route.strip("/").split("/"))
        # What fits everything tells nothing.
        if pattern.count("*") < len(pattern) and not any("**" in part or part.endswith("*}") for part in pattern):
            routes[method, len(pattern), pattern[0]].append((pattern, route))
    return Templates(
        {service: place for service, place in places.items() if place is not None},
        {key: tuple(found) for key, found in routes.items()},
    )


def _is_fixed(word: str) -> bool:
    """Whether a word is part of a route even where hundreds of others are variable."""
    return word in _ROUTE_WORDS or not word or is_version(word) or _PROGRAM.search(word) is not None


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
    locales = {word: set(_below(below)) for word, below in words.items() if is_locale(word)}
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
