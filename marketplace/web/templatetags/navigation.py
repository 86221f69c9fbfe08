"""Links of the navigation."""

from typing import Any

from django import template
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag(takes_context=True)
def nav_link(context: dict[str, Any], name: str, label: str, *, under: str = "") -> SafeString:
    """Return a link to a route that is marked as current on its page and those below it, or on all pages whose path begins with `under`."""
    address = reverse(name)
    request: HttpRequest | None = context.get("request")
    path = request.path if request else ""
    here = path == address or (path.startswith(under) if under else path.startswith(f"{address}/") and address.count("/") > 1)
    return format_html('<a href="{}"{}>{}</a>', address, SafeString(' aria-current="page"') if here else "", label)
