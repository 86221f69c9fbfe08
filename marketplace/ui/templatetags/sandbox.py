"""The banner of a sandbox, an installation for tests (`SANDBOX`)."""

from django import template
from django.conf import settings

register = template.Library()


@register.inclusion_tag("components/sandbox.html")
def sandbox_banner() -> dict[str, bool]:
    """Return the context of the banner, which is shown in a sandbox only."""
    return {"sandbox": settings.SANDBOX}
