"""Pages as tests read them: an HTML parser that complains, and a text that must never get into a page as it is."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link", "input"}
HOSTILE = "<script>alert('$x$ & \"y\"')</script>"


class Page(HTMLParser):
    """Tags, references to elsewhere, and text; complains about tags that do not close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = re.findall(r"url\(\s*['\"]?([^'\")]*)", text) + re.findall(r"@import.*", text)
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        names = {"src", "srcset", "href", "xlink:href", "data", "poster", "action", "background"}
        self.references += [value or "" for name, value in attrs if name in names]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
