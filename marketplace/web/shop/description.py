"""Markdown of vendors and of the operator as HTML: without raw HTML and images, with headings below the page's own."""

import re
from functools import lru_cache

import cmarkgfm
from cmarkgfm.cmark import Options
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

# Nested quotes take the most time, and their HTML is thirty times as long as the text.
MAX_QUOTES = 10_000
MAX_HTML_CHARS = 512 * 2**10
CACHED_TEXTS = 64
_RAW_HTML = "<!-- raw HTML omitted -->"
_IMAGE = re.compile(r'<img src="[^"]*" alt="([^"]*)"[^>]*>')
_HEADING = re.compile(r"(</?h)([1-6])>")
_ALIGNED = re.compile(r'<(t[hd]) align="\w+">')


@lru_cache(maxsize=CACHED_TEXTS)
def description_html(text: str, *, below: int = 2, breaks: bool = True) -> SafeString:
    """Return Markdown as HTML, or as plain text if the HTML would be too long.

    Headings begin one level below `below`. Lines are broken as in the text unless `breaks` is false. Links are marked as not endorsed. The time grows linearly with the length of the text.
    """
    plain = format_html("<p>{}</p>", text)
    if text.count(">") > MAX_QUOTES:
        return plain
    # Without its option UNSAFE, the renderer leaves out raw HTML and scripts in links, and escapes everything else; so in
    # what it returns a `<` begins a tag of its own.
    options = Options.CMARK_OPT_HARDBREAKS if breaks else 0
    html: str = cmarkgfm.markdown_to_html_with_extensions(text, options=options, extensions=["table"])
    if len(html) > MAX_HTML_CHARS:
        return plain
    html = _IMAGE.sub(r"\1", html.replace(_RAW_HTML, ""))
    # A wide table is scrolled, also by keyboard.
    html = html.replace("<table>", '<table tabindex="0">')
    html = _ALIGNED.sub(r"<\1>", html.replace("<a href=", '<a rel="nofollow ugc noopener" href='))
    return mark_safe(_HEADING.sub(lambda tag: f"{tag[1]}{min(int(tag[2]) + below, 4)}>", html))  # noqa: S308 - as said above
