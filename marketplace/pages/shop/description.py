"""Vendors' Markdown as HTML: no markup of theirs, no image from elsewhere, headings below ours."""

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")
# So many texts are remembered: one that is made to be slow takes seconds, and is asked for by everyone who looks.
TEXTS = 64


@lru_cache(maxsize=TEXTS)
def description_html(text: str) -> SafeString:
    """Return a vendor's text; whoever follows a link of theirs brings no recommendation of ours along."""
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + 2, 4)}"
        for child in token.children or []:
            if child.type == "link_open":
                child.attrSet("rel", "nofollow ugc noopener")
        _without_style(token)
    html: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    # The renderer escapes all that is not Markdown.
    return mark_safe(html)  # noqa: S308


def _without_style(token: Token) -> None:
    # Tables align their cells by a style; our policy takes none.
    token.attrs.pop("style", None)
