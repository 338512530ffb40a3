"""An answer as the user got it, shown so that nothing in it can do anything: rendered in a sandbox, and as text.

Whatever a service answers may be markup, scripts and addresses of others. A page of it is rendered in a frame of its
own, where no script runs, no form is sent and nothing is loaded from anywhere; all else is text.
"""

import json
import re
from collections.abc import Iterator
from difflib import unified_diff
from http import HTTPStatus
from itertools import islice

import htpy as h

from cutset.model.evidence import KeptAnswer
from cutset.report.page.components import note
from cutset.report.page.inert import inert

# For whoever serves such a page at an address of its own.
POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
MOST_COMPARED = 2_000  # lines: comparing takes the square of them
AROUND = 3  # equal lines that are shown before and after a difference
_ICONS = "<style>svg, img { max-width: 3rem; max-height: 3rem } :where(body) { font-family: system-ui }</style>"
_BETWEEN_TAGS = re.compile(r">\s*<")
_PAGE = re.compile(r"\s*(text/html|application/xhtml\+xml)\b", re.IGNORECASE)


def is_page(kept: KeptAnswer | None) -> bool:
    """Whether a browser would render it."""
    return kept is not None and bool(kept.text) and bool(_PAGE.match(kept.content_type))


def answer(title: str, kept: KeptAnswer, address: str = "") -> h.Element:
    """`address` is where the page itself is served, with `POLICY`; without one it travels along."""
    text = readable(kept)
    page = is_page(kept)
    return h.div(".answer")[
        h.h3[title],
        h.p[h.b[_status(kept)], " ", h.span(".muted.small")[" · ".join(_facts(kept))]],
        kept.error and note(kept.error, kind="failed"),
        kept.left_out > 0 and note(f"Cut off: {kept.left_out:,} more characters were not kept."),
        page
        and h.iframe(
            sandbox="",
            title=f"{title}, as a browser shows it",
            **({"src": address} if address else {"srcdoc": _plain(rendered(kept))}),
        ),
        page
        and h.p(".small.muted")["Without its style sheets, pictures and scripts: nothing is loaded from anywhere."],
        text
        and h.details(open=not page)[
            h.summary["Its source" if page else "Its text"], h.pre(".body", tabindex="0")[h.code[text]]
        ],
    ]


def rendered(kept: KeptAnswer) -> str:
    """The page, inert, with pictures no larger than icons: without its style sheets they would fill it."""
    return inert(kept.text) + _ICONS


def readable(kept: KeptAnswer) -> str:
    """JSON is indented, if it is whole."""
    if "json" in kept.content_type.lower():
        try:
            return json.dumps(json.loads(kept.text), indent=2, ensure_ascii=False)
        except (ValueError, RecursionError):
            pass
    return _plain(kept.text)


def difference(healthy: KeptAnswer, faulted: KeptAnswer) -> h.Node:
    """Line by line, with signs: what only the healthy answer has, and what only the other has."""
    if not (healthy.is_text and faulted.is_text):
        return h.p["They are no text, so that they are not compared."]
    before, after = _lines(healthy), _lines(faulted)
    if max(len(before), len(after)) > MOST_COMPARED:
        return h.p[f"They have more than {MOST_COMPARED:,} lines, so that they are not compared."]
    if before == after:
        return h.p["Their texts are the same."]
    lines = islice(unified_diff(before, after, n=AROUND, lineterm=""), 2, None)  # the first two name files
    return h.pre(".difference", tabindex="0")[[_line(each) for each in lines]]


def _line(line: str) -> h.Node:
    if line.startswith("@@"):
        return h.span(".muted")["⋯\n"]
    if line.startswith("-"):
        return h.del_[f"− {line[1:]}\n"]
    return h.ins[f"+ {line[1:]}\n"] if line.startswith("+") else f"  {line[1:]}\n"


def _lines(kept: KeptAnswer) -> list[str]:
    text = readable(kept)
    text = _BETWEEN_TAGS.sub(">\n<", text) if is_page(kept) else text
    return [line.strip() if is_page(kept) else line for line in text.splitlines() if line.strip()]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").expandtabs(4)


def _status(kept: KeptAnswer) -> str:
    if not kept.status:
        return "No answer"
    try:
        return f"{kept.status} {HTTPStatus(kept.status).phrase}"
    except ValueError:
        return str(kept.status)


def _facts(kept: KeptAnswer) -> Iterator[str]:
    if kept.content_type:
        yield kept.content_type
    yield f"{kept.length:,} bytes" + ("" if kept.is_text else ", no text, so that they were not kept")
    yield f"after {kept.seconds:.3g} s"
