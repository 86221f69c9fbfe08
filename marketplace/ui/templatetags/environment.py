"""The banner of a sandbox."""

from django import template
from django.conf import settings

register = template.Library()


@register.inclusion_tag("components/sandbox.html")
def sandbox_banner() -> dict[str, bool]:
    """Return the banner of a sandbox, nothing elsewhere."""
    return {"sandbox": settings.SANDBOX}
