"""A page of others without what would load, run, send or lead anywhere.

Its frame forbids all that anyway (`report.page.answer`), and that is what protects. But a browser complains of each
attempt, in the console of whoever looks at a finding, and a link that is followed would leave an empty frame.
"""

import re
from html import escape
from html.parser import HTMLParser

_LEFT_OUT = {"script", "link", "meta", "base", "iframe", "frame", "frameset", "object", "embed", "audio", "video",
             "source", "track", "noscript", "template", "portal"}  # fmt: skip
_EMPTY = {"link", "meta", "base", "frame", "embed", "source", "track"}  # never closed
_LOADING = {"src", "srcset", "href", "xlink:href", "action", "formaction", "data", "poster", "background", "ping",
            "manifest", "srcdoc", "longdesc", "cite", "nonce", "autofocus"}  # fmt: skip
_IN_STYLE = re.compile(r"@import[^;]*;?|(?:url|image-set|image|src)\s*\([^)]*\)", re.IGNORECASE)


def inert(page: str) -> str:
    parser = _Rewriter()
    parser.feed(page)
    parser.close()
    return "".join(parser.written)


class _Rewriter(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.written: list[str] = []
        self._inside: list[str] = []  # elements that are left out, and not closed yet

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _LEFT_OUT:
            self._inside += [tag] if tag not in _EMPTY else []
        elif not self._inside:
            kept = (f' {name}="{escape(_styled(name, value or ""))}"' for name, value in attrs if _is_kept(name))
            self.written.append(f"<{tag}{''.join(kept)}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass
        elif not self._inside and tag not in _LEFT_OUT:
            self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._inside:
            style = self.cdata_elem == "style"
            self.written.append(_IN_STYLE.sub("none", data) if style else data.replace("<", "&lt;"))

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")


def _is_kept(attribute: str) -> bool:
    return attribute not in _LOADING and not attribute.startswith("on") and attribute.replace("-", "").isalnum()


def _styled(attribute: str, value: str) -> str:
    return _IN_STYLE.sub("none", value) if attribute == "style" else value
