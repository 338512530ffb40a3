"""A whole page: what encloses the parts, and what a browser may do with them.

A report that travels is one file that needs nothing from elsewhere and has no scripts; the dashboard's pages have the
same parts in another frame (`cutset.web.frame`).
"""

from functools import cache
from importlib.resources import files

import htpy as h
from markupsafe import Markup

from cutset.model.wording import visible

# Pictures carry their own style, so that they are also files by themselves; frames show answers, in a sandbox.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'"


@cache
def style_sheet() -> str:
    return files("cutset.report.page").joinpath("style.css").read_text(encoding="utf-8")


def standalone(title: str, *body: h.Node) -> str:
    """One file, to be mailed, kept or printed."""
    page = h.html(lang="en")[
        h.head[
            h.meta(charset="utf-8"),
            h.meta(name="viewport", content="width=device-width, initial-scale=1"),
            h.meta(http_equiv="Content-Security-Policy", content=_POLICY),
            h.title[title],
            h.style[Markup(style_sheet())],  # noqa: S704 -- our own file
        ],
        h.body(".report")[h.main[body]],
    ]
    return visible(str(page)) + "\n"


def drawing(svg: str, *, label: str = "", wide: bool = False) -> h.Node:
    """A picture of `report.drawing`, or of any that escapes the names in it; `label` is for who cannot see it.

    A `wide` one would be too small to read on small screens: there it is scrolled, also by the keyboard.
    """
    attributes = ({"role": "img", "aria-label": label} if label else {}) | ({"tabindex": "0"} if wide else {})
    return h.div(class_=["picture", {"wide": wide}], **attributes)[Markup(svg)]  # noqa: S704 -- drawn by us, from escaped names
