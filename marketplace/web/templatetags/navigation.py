"""Links of the navigation."""

from typing import Any

from django import template
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def back_link(name: str, label: str, *args: object) -> SafeString:
    """Return the link to the page above, by its route and the route's arguments."""
    return format_html('<p class="crumb"><a href="{}">← {}</a></p>', reverse(name, args=args), label)


@register.simple_tag(takes_context=True)
def nav_link(context: dict[str, Any], name: str, label: str, *, under: str | None = None) -> SafeString:
    """Return a link to a route that is marked as current on its page, and on pages whose path begins with `under`.

    By default these are the pages below it; if `under` is empty, there are none.
    """
    address = reverse(name)
    request: HttpRequest | None = context.get("request")
    path = request.path if request else ""
    below = f"{address.removesuffix('/')}/" if under is None else under
    here = path == address or (below != "" and path.startswith(below))
    return format_html('<a href="{}"{}>{}</a>', address, SafeString(' aria-current="page"') if here else "", label)
