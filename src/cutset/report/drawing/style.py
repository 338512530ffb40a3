"""The style sheet of a service graph: on light and on dark ground, and what happens under the pointer."""

from collections.abc import Iterable

_PALETTE = {  # on light and on dark ground
    "ground": ("#ffffff", "#0d1117"),
    "ink": ("#1c2430", "#e6edf3"),
    "muted": ("#667085", "#8b98a9"),
    "line": ("#8a97a8", "#66758a"),
    "faint": ("#aab4c2", "#4d5a6a"),
    "critical": ("#1f6feb", "#58a6ff"),
    "some failed": ("#e08a80", "#a8554e"),
    "many failed": ("#d92d20", "#ff6b60"),
    "service": ("#f3f6fa", "#1a222d"),
    "store": ("#fdf3dc", "#2e2614"),
    "store rim": ("#c79a3b", "#a98434"),
    "queue": ("#f0ebfd", "#241f38"),
    "queue rim": ("#8f7ad1", "#7c6bb8"),
    "cut": ("#fdecea", "#3a1715"),
}
_COLOURS = (  # selector, property, entry of the palette; of equally specific ones the last wins
    (".ground", "fill", "ground"),
    ("text", "fill", "ink"),
    (".muted,.arrow", "fill", "muted"),
    (".always,.after-failure", "color", "line"),
    (".sometimes", "color", "faint"),
    (".some-failed", "color", "some failed"),
    (".many-failed", "color", "many failed"),
    (".critical .line", "stroke", "critical"),  # its tip still says whether calls fail
    (".critical:not(.some-failed):not(.many-failed)", "color", "critical"),
    (".edge:hover .line", "stroke", "ink"),
    (".service .body", "fill", "service"),
    (".service .body", "stroke", "line"),
    (".store .body", "fill", "store"),
    (".store .body,.store .lid", "stroke", "store rim"),
    (".queue .body", "fill", "queue"),
    (".queue .body", "stroke", "queue rim"),
    (".critical .body,.critical .lid", "stroke", "critical"),
    (".cut .body", "fill", "cut"),
    (".cut .body,.cut .lid", "stroke", "many failed"),
    (".share,.badge", "fill", "many failed"),
    (".cross", "stroke", "ground"),
)
_FORMS = (
    ("text", "font-family:system-ui,sans-serif"),
    (".name", "font-weight:600"),
    (".line,.hit,.lid,.cross", "fill:none"),
    (".line", "stroke:currentColor"),
    (".tip", "fill:currentColor"),
    (".hit", "stroke:transparent;pointer-events:stroke"),
    (".sometimes .line", "stroke-linecap:round"),
    (".critical .body,.critical .lid", "stroke-width:2"),
    (".cut .body", "stroke-dasharray:4 3"),
    (".roomy .edge:not(.critical):not(:hover)", "opacity:.85"),
    (".dense .edge:not(.critical):not(:hover)", "opacity:.6"),
)


def style_sheet(services: int) -> str:
    light, dark = (
        sheet(
            "service-graph", ((selector, f"{name}:{_PALETTE[colour][ground]}") for selector, name, colour in _COLOURS)
        )
        for ground in (0, 1)
    )
    # Who points at a service sees the calls that it makes and gets; the others fade. Needs no script.
    fading = "\n".join(f".service-graph:has(.box.n{n}:hover) .edge:not(.n{n}){{opacity:.08}}" for n in range(services))
    forms = sheet("service-graph", _FORMS)
    return f"<style>\n{forms}\n{light}\n@media (prefers-color-scheme:dark){{\n{dark}\n}}\n{fading}\n</style>"


def sheet(picture: str, rules: Iterable[tuple[str, str]]) -> str:
    """Rules for the pictures of this class, which leave the rest of a page alone that they are embedded in."""
    return "\n".join(
        ",".join(f".{picture} {selector}" for selector in selectors.split(",")) + f"{{{declarations}}}"
        for selectors, declarations in rules
    )
