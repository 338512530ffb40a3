"""The style sheet of a service graph: on light and on dark ground, and what happens under the pointer."""

from collections.abc import Iterable

_PALETTE = {  # on light and on dark ground
    "ground": ("#ffffff", "#0d1117"),
    "ink": ("#1c2430", "#e6edf3"),
    "muted": ("#667085", "#8b98a9"),
    "rim": ("#8a97a8", "#66758a"),
    "line": ("#64748b", "#95a3b5"),
    "line, pale": ("#b9c4d0", "#465465"),
    "critical": ("#1f6feb", "#58a6ff"),
    "critical, pale": ("#7fb0f6", "#3a6fb5"),
    "halo": ("#d3e4fd", "#12305c"),
    "some failed": ("#e07b1a", "#e08b3a"),
    "some failed, pale": ("#f2c594", "#7d5225"),
    "many failed": ("#d92d20", "#ff6b60"),
    "many failed, pale": ("#f0a39c", "#943f39"),
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
    # What is only sometimes called is pale, and not thin or dotted: width says how often, and lines share their ways.
    (".always,.after-failure", "color", "line"),
    (".sometimes", "color", "line, pale"),
    (".critical", "color", "critical"),
    (".critical.sometimes", "color", "critical, pale"),
    (".some-failed", "color", "some failed"),
    (".sometimes.some-failed", "color", "some failed, pale"),
    (".many-failed", "color", "many failed"),
    (".sometimes.many-failed", "color", "many failed, pale"),
    (".halo", "stroke", "halo"),
    (".edge:hover .line", "stroke", "ink"),
    (".service .body", "fill", "service"),
    (".service .body", "stroke", "rim"),
    (".store .body", "fill", "store"),
    (".store .body,.store .lid", "stroke", "store rim"),
    (".queue .body", "fill", "queue"),
    (".queue .body", "stroke", "queue rim"),
    (".critical .body,.critical .lid", "stroke", "critical"),
    (".centre .body,.centre .lid", "stroke", "ink"),
    (".cut .body", "fill", "cut"),
    (".cut .body,.cut .lid", "stroke", "many failed"),
    (".share,.badge", "fill", "many failed"),
    (".cross", "stroke", "ground"),
    (".question", "fill", "muted"),
    (".asked", "fill", "ground"),
)
_FORMS = (
    ("text", "font-family:system-ui,sans-serif"),
    (".name,.asked", "font-weight:600"),
    (".line,.halo,.hit,.lid,.cross", "fill:none"),
    (".line", "stroke:currentColor"),
    (".tip", "fill:currentColor"),
    (".hit", "stroke:transparent;pointer-events:stroke"),
    (".halo", "stroke-linecap:round"),
    (".critical .body,.critical .lid", "stroke-width:2"),
    (".centre .body,.centre .lid", "stroke-width:3"),
    (".cut .body", "stroke-dasharray:4 3"),
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
