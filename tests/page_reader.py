"""Reads a report's page as a browser's parser would, to look at its tags and texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

EMPTY = {"meta", "link", "input", "br", "rect", "circle", "path"}


@dataclass
class Tag:
    """An element with its text."""

    name: str
    attributes: dict[str, str]
    text: str = ""
    above: tuple[str, ...] = ()


@dataclass
class Page(HTMLParser):
    """All elements of a page, in order."""

    tags: list[Tag] = field(default_factory=list)
    _open: list[Tag] = field(default_factory=list)

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags = []
        self._open = []
        self.feed(html)
        self.close()
        assert self._open == [], f"left open: {[tag.name for tag in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Tag(
            tag, {name: value or "" for name, value in attrs}, above=tuple(one.name for one in self._open)
        )
        assert len(found.attributes) == len(attrs), f"an attribute twice: {attrs}"
        self.tags.append(found)
        if tag not in EMPTY:
            self._open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        last = self._open.pop()
        assert last.name == tag, f"</{tag}> closes <{last.name}>"

    def handle_data(self, data: str) -> None:
        for tag in self._open:
            tag.text += data

    def all(self, name: str, **attributes: str) -> list[Tag]:
        """Elements of a name with given attributes; `class_` looks for a word of the class."""
        wanted = attributes.pop("class_", None)
        return [
            tag
            for tag in self.tags
            if tag.name == name
            and all(tag.attributes.get(key.replace("_", "-")) == value for key, value in attributes.items())
            and (wanted is None or wanted in tag.attributes.get("class", "").split())
        ]

    def text_of(self, name: str) -> str:
        """The texts of all elements of a name."""
        return " ".join(tag.text for tag in self.all(name))

    def one(self, name: str, **attributes: str) -> Tag:
        (found,) = self.all(name, **attributes)
        return found
