"""Finds sites again in another version of the class files, by their code.

Lines are others there; calls like it may have been added or taken away before a site, so that of several in its
function the one counts whose code around is most like what it was; its function may have another name or be in another
class. What is called or thrown must read as it did: a fault at something else would say nothing about the bug.

Replays do this with neither Cutset nor its dependencies: the jar and the standard library have to do.
"""

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from cutset.errors import InputError
from cutset.model.reproduction.site import Site, SiteKind
from cutset.reproduce.jvm.class_path import is_path
from cutset.reproduce.jvm.jar import jvm_jar
from cutset.reproduce.rounds.harness import LocatedSites

ALIKE = 0.6  # of the words around: from there on it is taken for the same place, whatever its function is called
SOMEWHAT_ALIKE = 0.3  # that is enough in the function where it was, if it is still the same one in order there
LEAST_WORDS = 6  # that agree, in another function of its class: a few say nothing
ALIKE_ELSEWHERE, LEAST_WORDS_ELSEWHERE = 0.75, 8  # in another class
_ITSELF = "=> "  # marks the site among the words around it
_ROOT = 3  # parts of the name of a package that a project's packages share: `org.apache.zookeeper`
_NUMBERED = re.compile(r"\$\d+")  # anonymous classes and lambdas: those before them change their numbers


class SitePlace(NamedTuple):
    """Where something that reads like a site is by now."""

    module: str
    function: str
    expression: str
    ordinal: int
    is_raise: bool
    path: str
    line: int
    around: Sequence[str]


def locate(
    sites: Mapping[Site, Sequence[str]], sources: Sequence[str], class_path: Sequence[str], java: str
) -> LocatedSites:
    """By site and the code that was around it: at most one place, as like as it should be."""
    where = list(dict.fromkeys(each for name in sources for each in _by_now(name, sites, class_path)))
    places, paths = _places({site.expression for site in sites}, where, class_path, java)
    found = {site: _best(site, around, places) for site, around in sites.items()}
    return LocatedSites({site: [] if place is None else [_moved(site, place)] for site, place in found.items()}, paths)


def code_around(
    sites: Sequence[Site], sources: Sequence[str], class_path: Sequence[str], java: str
) -> dict[Site, tuple[str, ...]]:
    """By which `locate` finds them later. Of a site that is not there: nothing."""
    places, _ = _places({site.expression for site in sites}, sources, class_path, java)
    by_name = {_name(place): tuple(place.around) for place in places}
    names = {site: (site.module, site.function, site.expression, site.ordinal) for site in sites}
    return {site: by_name.get(names[site], ()) for site in sites}


def _by_now(source: str, sites: Iterable[Site], class_path: Sequence[str]) -> list[str]:
    """A jar that is not on the class path any more gave way to another version: its packages are looked for there."""
    if (
        not is_path(source)
        or not class_path
        or Path(source).resolve() in {Path(entry).resolve() for entry in class_path}
    ):
        return [source]
    return [".".join(site.module.split(".")[:-1][:_ROOT]) or site.module for site in sites]


def _name(place: SitePlace) -> tuple[str, str, str, int]:
    return place.module, place.function, place.expression, place.ordinal


def _places(
    expressions: set[str], sources: Sequence[str], class_path: Sequence[str], java: str
) -> tuple[list[SitePlace], list[str]]:
    with tempfile.TemporaryDirectory(prefix="cutset-locate-") as folder:
        asked, answer = Path(folder, "request.json"), Path(folder, "answer.json")
        request = {
            "sources": [str(Path(name).absolute()) if is_path(name) else f"package:{name}" for name in sources],
            "class_path": list(class_path),
            "expressions": sorted(expressions),
        }
        asked.write_text(json.dumps(request), encoding="utf-8")
        words = [java, "-Xmx1g", "-XX:TieredStopAtLevel=1", "-jar", str(jvm_jar()), "locate", str(asked), str(answer)]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise InputError(
                f"The classes cannot be read: {done.stderr.strip() or f'java ended with {done.returncode}'}"
            )
        found = json.loads(answer.read_text(encoding="utf-8"))
        return [SitePlace(*row) for row in found["places"]], found["paths"]


def _best(site: Site, around: Sequence[str], places: Sequence[SitePlace]) -> SitePlace | None:
    fitting = max(_fitting(site, around, places), key=lambda each: each[0], default=None)
    return None if fitting is None else fitting[1]


def _fitting(
    site: Site, around: Sequence[str], places: Sequence[SitePlace]
) -> Iterator[tuple[tuple[float, ...], SitePlace]]:
    """Each with how well it fits. Of what is alike, its own function goes first, then others of its class."""
    for place in places:
        if (place.expression, place.is_raise) != (site.expression, site.kind is SiteKind.RAISE):
            continue
        same_class = _unnumbered(place.module) == _unnumbered(site.module)
        same_function = _without_types(place.function) == _without_types(site.function)
        at_home, same = same_class and same_function, place.ordinal == site.ordinal
        agreeing = _agreeing(around, place.around)
        alike = 2 * agreeing / (len(around) + len(place.around)) if around else SOMEWHAT_ALIKE
        if same_class:
            is_alike = alike >= ALIKE and (at_home or agreeing > LEAST_WORDS)
        else:
            is_alike = alike >= ALIKE_ELSEWHERE and agreeing > LEAST_WORDS_ELSEWHERE
        if is_alike or (at_home and same and alike >= SOMEWHAT_ALIKE):
            exactly = (place.module, place.function) == (site.module, site.function)
            yield (is_alike, at_home, same_class, same_function, alike, exactly, same), place


def _agreeing(before: Sequence[str], after: Sequence[str]) -> int:
    """How many words agree on the same side of what is called itself, which is one more."""
    sides = zip(_sides(before), _sides(after), strict=True)
    matchers = [SequenceMatcher(None, one, other, autojunk=False) for one, other in sides]
    return 1 + sum(block.size for matcher in matchers for block in matcher.get_matching_blocks())


def _sides(around: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    middle = next((number for number, word in enumerate(around) if word.startswith(_ITSELF)), len(around))
    return around[:middle], around[middle + 1 :]


def _without_types(function: str) -> str:
    """Names have the types of parameters only if there are several alike, which may have changed."""
    return _unnumbered(function.partition("(")[0])


def _unnumbered(name: str) -> str:
    return _NUMBERED.sub("$", name)


def _moved(site: Site, place: SitePlace) -> Site:
    return replace(
        site,
        module=place.module,
        function=place.function,
        ordinal=place.ordinal,
        path=place.path,
        line=place.line,
        end_line=place.line,
    )
