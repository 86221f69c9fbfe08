"""How the admin looks. What is in its sidebar depends on the user: `marketplace.pages.admin` says it."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.module_loading import import_string


def _style(path: str) -> Callable[[HttpRequest], str]:
    return lambda _request: static(path)


def _navigation(request: HttpRequest) -> list[dict[str, Any]]:
    # By name: settings are read before any app is there.
    groups: list[dict[str, Any]] = import_string("marketplace.pages.admin.navigation.navigation")(request)
    return groups


# The theme's scales, on the colours of `static/css/tokens.css`: what it takes for light pages, then what it takes for dark ones.
_BASE = {
    "50": "#f8f6f1",
    "100": "#efece4",
    "200": "#e0dbd0",
    "300": "#b7b1a4",
    "400": "#b7b1a4",
    "500": "#5a564d",
    "600": "#5a564d",
    "700": "#45423b",
    "800": "#36352f",
    "900": "#1c1c19",
    "950": "#131311",
}
_PRIMARY = {
    "50": "#dceeef",
    "100": "#dceeef",
    "200": "#a2dfe6",
    "300": "#a2dfe6",
    "400": "#74cbd6",
    "500": "var(--accent)",
    "600": "#0d5c68",
    "700": "#094650",
    "800": "#16363b",
    "900": "#16363b",
    "950": "#06252a",
}
_FONT = {
    "subtle-light": "#5a564d",
    "subtle-dark": "#b7b1a4",
    "default-light": "#5a564d",
    "default-dark": "#b7b1a4",
    "important-light": "#1b1a17",
    "important-dark": "#f3f0e9",
}

THEME: dict[str, Any] = {
    "SITE_TITLE": "Creative Asset Marketplace",
    "SITE_HEADER": "Marketplace admin",
    "SITE_URL": "/",
    "SITE_SYMBOL": "storefront",
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "DASHBOARD_CALLBACK": "marketplace.pages.admin.home.home",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _style("favicon.svg")}],
    "STYLES": [_style(f"{name}.css") for name in ("css/tokens", "css/status", "css/chart", "admin/theme", "admin/review", "admin/home")],
    # Passwords are the account pages' business, with their limits and their mails.
    "ACCOUNT": {"navigation": [{"title": "Your account", "link": reverse_lazy("account")}]},
    "BORDER_RADIUS": "0.5rem",
    "COLORS": {"base": _BASE, "primary": _PRIMARY, "font": _FONT},
    "SIDEBAR": {"show_search": False, "show_all_applications": False, "navigation": _navigation},
}
