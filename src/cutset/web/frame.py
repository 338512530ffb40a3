"""The frame around every page of the dashboard: where one can go, and what is being injected now."""

from dataclasses import dataclass

import htpy as h

from cutset.model.wording import visible

# Address, name; each is one file in `pages`.
PLACES = (
    ("/", "Overview"),
    ("/campaigns", "Campaigns"),
    ("/graph", "Service graph"),
    ("/harden", "Harden"),
    ("/drills", "Drills"),
    ("/impacts", "Impacts"),
    ("/reproductions", "Reproductions"),
    ("/traces", "Traces"),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """What the frame says on every page."""

    store: str
    read_only: bool
    running: str = ""  # what is under way, in words
    running_at: str = ""  # the page of it


def page(frame: Frame, place: str, title: str, *body: h.Node, scripts: tuple[str, ...] = ()) -> str:
    """`place` is one of `PLACES`; `scripts` are names of files in `static`."""
    document = h.html(lang="en")[
        h.head[
            h.meta(charset="utf-8"),
            h.meta(name="viewport", content="width=device-width, initial-scale=1"),
            h.title[f"{title} · Cutset"],
            h.link(rel="icon", href="/static/icon.svg", type="image/svg+xml"),
            h.link(rel="stylesheet", href="/static/style.css"),
            (h.script(src=f"/static/{name}", type="module") for name in scripts),
        ],
        h.body[
            h.a(".skip", href="#content")["Skip to content"],
            h.div(".frame")[h.header[_header(frame, place)], h.main("#content", tabindex="-1")[body]],
        ],
    ]
    return visible(str(document))


def _header(frame: Frame, place: str) -> h.Node:
    return [
        h.a(".brand", href="/")["Cutset"],
        h.nav(aria_label="Pages")[
            h.ul[
                (
                    h.li[h.a(href=address, aria_current="page" if address == place else None)[name]]
                    for address, name in PLACES
                )
            ]
        ],
        frame.running
        and h.p("#running.small")[h.span(aria_hidden="true")["● "], h.a(href=frame.running_at)[frame.running]],
        h.p(".small.muted")[frame.store, h.br, "read-only" if frame.read_only else ""],
    ]
