"""The documentation: Markdown files beside this module, each a page at /docs/<its name>.

A file begins with a front matter of `name: value` lines between two lines of three dashes: `title`, `summary`, `section` (one
of `reading.AUDIENCES`: the heading that it is under in the navigation) and `order` (a number, by which it is sorted there).
In the text `{{base_url}}` and the other names in `values` are replaced by values of this service, and `{{wallet.QUOTE_MINUTES}}`
by that number in the bounds of the app, or in the settings. Blocks of code that follow
each other directly, each named like ```` ```python tab=Python ````, become one block with tabs.
"""

from .reading import documents, sections

__all__ = ["documents", "sections"]
