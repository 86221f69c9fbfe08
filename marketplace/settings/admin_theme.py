"""How the admin looks. What is in its sidebar depends on the user: `marketplace.pages.admin` says it."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.utils.module_loading import import_string


def _stylesheet(_request: HttpRequest) -> str:
    return static("admin/review.css")


def _charts(_request: HttpRequest) -> str:
    return static("css/chart.css")


def _navigation(request: HttpRequest) -> list[dict[str, Any]]:
    # By name: settings are read before any app is there.
    groups: list[dict[str, Any]] = import_string("marketplace.pages.admin.navigation")(request)
    return groups


THEME: dict[str, Any] = {
    "SITE_TITLE": "Creative Asset Marketplace",
    "SITE_HEADER": "Marketplace admin",
    "SITE_URL": "/",
    "SITE_SYMBOL": "storefront",
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "STYLES": [_charts, _stylesheet],
    "SIDEBAR": {"show_search": False, "show_all_applications": False, "navigation": _navigation},
}
