"""What a span, an answer or a name may say, and never may become."""

from html.parser import HTMLParser

from cutset.model.point import Point

SCRIPT = "<script>alert(1)</script>"
IMAGE = "\"'><img src=x onerror=alert(1)>"
HOSTILE = SCRIPT + IMAGE
HOSTILE_POINT = str(Point(HOSTILE, HOSTILE))


class _Parsed(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.text += " "

    def handle_endtag(self, tag: str) -> None:
        self.text += " "

    def handle_data(self, data: str) -> None:
        self.text += data


def text_of(page: str) -> str:
    """What a reader sees. Fails on markup that only others can have written."""
    parsed = _Parsed()
    parsed.feed("".join(page))  # no `Markup`, which would escape what it is unescaped to
    for tag, attributes in parsed.tags:
        assert tag != "img", page
        assert tag != "script" or (attributes.get("src") or "").startswith("/static/"), page
        assert not any(name.startswith("on") for name in attributes), page
    return " ".join(parsed.text.split())
