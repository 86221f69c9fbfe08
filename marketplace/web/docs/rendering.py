"""Converts Markdown to HTML: headings with anchors, highlighted code, tabs. HTML in the text is escaped."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.utils.html import escape
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_TAB = re.compile(r"^(?P<language>\w*)\s+tab=(?P<tab>.+)$")
_FORMATTER = HtmlFormatter(nowrap=True)


class Heading(NamedTuple):
    """A heading of a page: its level, anchor and text."""

    level: int
    anchor: str
    text: str


def plain_parts(text: str) -> Iterator[tuple[Heading | None, str]]:
    """Yield the words below each heading of a Markdown text without its markup, those before the first heading with None."""
    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(text)
    headings = {heading.anchor: heading for heading in _anchored(tokens)}
    heading: Heading | None = None
    words: list[str] = []
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and str(token.attrGet("id")) in headings:
            yield heading, " ".join(words)
            heading, words = headings[str(token.attrGet("id"))], []
        elif token.type == "fence":
            words.append(" ".join(token.content.split()))
        elif token.type == "inline" and tokens[index - 1].type != "heading_open":
            words.append("".join(part.content or " " for part in token.children or []).strip())
    yield heading, " ".join(words)


def rendered(text: str) -> tuple[str, list[Heading]]:
    """Return the HTML of a Markdown text and its headings of the second and third level."""
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    environment: EnvType = {}
    tokens = markdown.parse(text, environment)
    headings = list(_anchored(tokens))
    _label_cells(tokens)
    html: str = markdown.renderer.render(_with_tabs(tokens), markdown.options, environment)
    return html, headings


def code_html(source: str, language: str) -> str:
    """Return a highlighted block of code, to which a script adds a copy button."""
    try:
        coloured = highlight(source, get_lexer_by_name(language, stripnl=False), _FORMATTER).rstrip("\n")
    except ClassNotFound:
        coloured = escape(source.rstrip("\n"))
    return f'<div class="code"><pre tabindex="0"><code>{coloured}</code></pre></div>\n'


def tabs_html(name: str, blocks: Sequence[tuple[str, str, str]]) -> str:
    """Return blocks of code (label, language, code) as tabs, chosen by radio buttons: they work without a script. The name is unique on the page."""
    heads = "".join(
        f'<label for="{name}-{number}"><input type="radio" id="{name}-{number}" name="{name}" data-tab="{escape(label)}"'
        f"{'' if number else ' checked'}>{escape(label)}</label>"
        for number, (label, _, _) in enumerate(blocks)
    )
    bodies = "".join(f'<div class="tab">{code_html(source, language)}</div>' for _, language, source in blocks)
    return f'<div class="tabs"><fieldset class="tabs-heads"><legend class="visually-hidden">Language</legend>{heads}</fieldset>{bodies}</div>\n'


class _Renderer(RendererHTML):
    """Renders code, tabs, tables and headings in our own way."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        language = tokens[idx].info.split(" ", 1)[0]
        return code_html(tokens[idx].content, language)

    def tabs(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        blocks = tokens[idx].children or []
        return tabs_html(blocks[0].meta["id"], [(block.meta["tab"], block.meta["language"], block.content) for block in blocks])

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # A wide table scrolls by itself.
        return '<div class="scroll" tabindex="0"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # Numbers are aligned by a class: the content security policy forbids inline styles.
        right = ' class="end"' if tokens[idx].attrs.get("style") == "text-align:right" else ""
        label = tokens[idx].meta.get("label")
        named = f' data-label="{escape(label)}"' if label else ""
        return f"<{tokens[idx].tag}{right}{named}>"

    td_open = th_open

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        anchor = tokens[idx].meta.get("anchor")
        link = f' <a class="anchor" href="#{anchor}"><span class="visually-hidden">Link to this part </span>#</a>' if anchor else ""
        return f"{link}</{tokens[idx].tag}>\n"


def _label_cells(tokens: list[Token]) -> None:
    """Label each cell but the first of a row with its column's heading: on a phone cells are shown below each other."""
    headings: list[str] = []
    column = 0
    for index, token in enumerate(tokens):
        match token.type:
            case "table_open":
                headings = []
            case "tr_open":
                column = 0
            case "th_open":
                headings.append(tokens[index + 1].content)
            case "td_open":
                token.meta["label"] = headings[column] if column else ""
                column += 1


def _anchored(tokens: list[Token]) -> Iterator[Heading]:
    """Give each heading a unique anchor."""
    taken: set[str] = set()
    for index, token in enumerate(tokens):
        if token.type != "heading_open" or token.tag not in {"h2", "h3"}:
            continue
        text = "".join(part.content for part in tokens[index + 1].children or [] if part.type in {"text", "code_inline"})
        anchor = slugify(text) or "part"
        while anchor in taken:
            anchor += "-more"
        taken.add(anchor)
        token.attrSet("id", anchor)
        tokens[index + 2].meta["anchor"] = anchor
        yield Heading(int(token.tag[1]), anchor, text)


def _with_tabs(tokens: list[Token]) -> list[Token]:
    """Return the tokens, with adjacent blocks of tabs joined into one."""
    found: list[Token] = []
    for number, token in enumerate(tokens):
        named = _TAB.match(token.info) if token.type == "fence" else None
        if named is None:
            found.append(token)
            continue
        token.meta = {"id": f"code-{number}", "tab": named["tab"], "language": named["language"]}
        if not (found and found[-1].type == "tabs"):
            found.append(Token("tabs", "", 0, children=[]))
        found[-1].children = [*(found[-1].children or []), token]
    return found
