"""Times, money, scopes and states as people read them."""

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from catalog.admin.values import name_label, visible_characters
from catalog.field_labels import field_label
from marketplace.core.scopes import SCOPE_LABELS, Scope
from marketplace.ui.formatting import money, status_colour, status_label, when

register = template.Library()
for function in (field_label, name_label, money, status_label, status_colour, when):
    register.filter(function)
register.filter("visible", visible_characters)


@register.filter
def heading(tag: str) -> str:
    """Return a tag of the API as a heading."""
    return tag.replace("-", " ").capitalize()


@register.filter
def scope_label(scope: str) -> str:
    """Return the label of a scope: what it allows."""
    return SCOPE_LABELS[Scope(scope)]


@register.filter
def breakable(path: str) -> SafeString:
    """Return a path that a narrow page breaks before a slash."""
    return format_html_join(SafeString("<wbr>/"), "{}", ((part,) for part in path.split("/")))
