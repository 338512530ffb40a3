"""The style sheet of a point graph: on light and on dark ground, as part of a page and by itself."""

from cutset.report.drawing.style import sheet

_PALETTE = {  # on light and on dark ground
    "ground": ("#ffffff", "#0d1117"),
    "ink": ("#1c2430", "#e6edf3"),
    "muted": ("#566173", "#9aa6b5"),
    "line": ("#8a97a8", "#66758a"),
    "spare": ("#8a5a00", "#dfac45"),
    "box": ("#f6f8fa", "#151b24"),
    "box rim": ("#b9c3cf", "#3a4656"),
    "store": ("#fdf6e6", "#2a2415"),
    "store rim": ("#c79a3b", "#a98434"),
    "queue": ("#f3effd", "#231e36"),
    "queue rim": ("#8f7ad1", "#7c6bb8"),
    "link": ("#0b57c9", "#6cb0ff"),
    "bad": ("#b42318", "#ff7b70"),
    "bad soft": ("#fdecea", "#3a1715"),
    "warn": ("#8a5a00", "#dfac45"),
    "warn soft": ("#fbeecb", "#3a3016"),
    "good": ("#176b31", "#56c976"),
    "good soft": ("#e0f4e5", "#12301c"),
    "open": ("#6d3bbd", "#c09bfa"),
    "open soft": ("#f1e9fc", "#2a1d42"),
}
_COLOURS = (  # selector, property, entry of the palette; of equally specific ones the last wins
    (".ground", "fill", "ground"),
    ("text", "fill", "ink"),
    (".muted,.arrow", "fill", "muted"),
    (".call", "color", "line"),
    (".call.spare", "color", "spare"),
    (".body", "fill", "box"),
    (".body", "stroke", "box rim"),
    (".store .body", "fill", "store"),
    (".store .body,.store .lid", "stroke", "store rim"),
    (".queue .body", "fill", "queue"),
    (".queue .body", "stroke", "queue rim"),
    (".entry .body", "stroke", "link"),
    (".fatal .badge,.failed .badge", "fill", "bad"),
    (".fatal .sign,.failed .sign", "fill", "ground"),
    (".shared .badge", "stroke", "bad"),
    (".shared .badge", "fill", "bad soft"),
    (".shared .sign", "fill", "bad"),
    (".degraded .badge", "fill", "warn soft"),
    (".degraded .badge", "stroke", "warn"),
    (".degraded .sign", "fill", "warn"),
    (".tolerated .badge,.survived .badge", "fill", "good soft"),
    (".tolerated .sign,.survived .sign", "fill", "good"),
    (".unknown .badge,.not-coverable .badge", "fill", "open soft"),
    (".unknown .badge,.not-coverable .badge", "stroke", "open"),
    (".unknown .sign,.not-coverable .sign", "fill", "open"),
    (".not-called .sign", "fill", "muted"),
    (".point.pressed .strip", "fill", "bad soft"),
    (".point.pressed .strip,.cross", "stroke", "bad"),
    (".request.pressed .strip", "stroke", "link"),
)
_FORMS = (
    ("text", "font:12px system-ui,sans-serif"),
    (".name", "font-weight:650"),
    (".sign", "font-weight:700"),
    (".line,.lid,.cross", "fill:none"),
    (".line", "stroke:currentColor"),
    (".tip", "fill:currentColor"),
    (".strip,.badge", "fill:transparent"),
    (".not-coverable .badge", "stroke-dasharray:3 2"),
    (".cross", "stroke-width:2.2;display:none"),
    (".point.pressed .strip", "stroke-dasharray:4 3"),
    (".request.pressed .strip", "stroke-width:2"),
    (".pressed .cross", "display:inline"),
    (".request .cross", "display:none"),
    (".call.faded", "opacity:.16"),
    (".row.faded,.box.faded .name,.box.faded .body,.box.faded .lid", "opacity:.42"),
)


def _on(ground: int) -> str:
    return sheet(
        "point-graph", ((selector, f"{name}:{_PALETTE[colour][ground]}") for selector, name, colour in _COLOURS)
    )


POINT_STYLE = f"\n{sheet('point-graph', _FORMS)}\n{_on(0)}\n@media (prefers-color-scheme:dark){{\n{_on(1)}\n}}\n"
