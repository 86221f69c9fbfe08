"""Reads and caches the pages of the documentation."""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path

from .rendering import Heading, rendered
from .values import filled_in

# The sections in the order of the navigation, each with whom it is for, as the index says it.
AUDIENCES = {
    "Buy": "You license assets for your work.",
    "Sell": "You publish assets and are paid for them.",
    "Build": "You write a program or connect an AI assistant.",
    "Operate": "You run this service.",
}

FOLDER = Path(__file__).parent
_FENCE = "---\n"
_NAMES = {"title", "summary", "section", "order"}


@dataclass(frozen=True)
class Document:
    """A page."""

    # Its name in the address.
    slug: str
    title: str
    # One sentence.
    summary: str
    # The heading that it is under in the navigation, and its position there.
    section: str
    order: int
    # Its Markdown as it was written.
    source: str

    @cached_property
    def text(self) -> str:
        """Its Markdown with values filled in; not before the first access, when all apps are loaded."""
        return filled_in(self.source).strip() + "\n"

    @cached_property
    def html_and_headings(self) -> tuple[str, list[Heading]]:
        """Its HTML, and its headings for the table of contents."""
        return rendered(self.text)


@cache
def documents() -> dict[str, Document]:
    """Return every page by its slug, in the order of the navigation; read once, since the files are part of the release."""
    names = list(AUDIENCES)
    pages = sorted(map(_read, FOLDER.glob("*.md")), key=lambda page: (names.index(page.section), page.order, page.slug))
    return {page.slug: page for page in pages}


def sections() -> list[tuple[str, str, list[Document]]]:
    """Return the pages by the headings of the navigation, each with whom they are for."""
    return [(name, AUDIENCES[name], list(pages)) for name, pages in groupby(documents().values(), key=lambda page: page.section)]


def _read(path: Path) -> Document:
    begin, front, text = path.read_text("utf-8").split(_FENCE, 2)
    head = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in front.splitlines())}
    if begin or set(head) != _NAMES:
        raise ValueError(f"{path.name} must begin with a front matter of {', '.join(sorted(_NAMES))}.")
    return Document(path.stem, head["title"], head["summary"], head["section"], int(head["order"]), text)
