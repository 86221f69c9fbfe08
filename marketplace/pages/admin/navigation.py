"""The admin's sidebar: the queues with the number that waits in each, then everything else."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from catalog.models import Category, LicenseTier, Listing, RejectionReason, Store
from developers.models import AccessToken, ApiKey, App, Consent, WebhookEndpoint
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from vendors.models import VendorProfile
from wallet.models import Order, Payout, WalletOwner

from .queues import QUEUES, Tally, tallies

LISTED: tuple[tuple[str, tuple[tuple[str, str, type[Model]], ...]], ...] = (
    (
        "Catalog",
        (
            ("Listings", "category", Listing),
            ("Stores", "store", Store),
            ("Vendors", "sell", VendorProfile),
            ("Categories", "folder", Category),
            ("Licence tiers", "license", LicenseTier),
            ("Rejection reasons", "checklist", RejectionReason),
        ),
    ),
    (
        "Developers",
        (
            ("Apps", "apps", App),
            ("API keys", "vpn_key", ApiKey),
            ("Tokens", "token", AccessToken),
            ("Consents", "handshake", Consent),
            ("Webhook endpoints", "webhook", WebhookEndpoint),
        ),
    ),
    ("Money", (("Wallets", "account_balance_wallet", WalletOwner), ("Orders", "receipt_long", Order), ("Payouts", "payments", Payout))),
    ("People", (("Users", "group", User), ("Groups", "groups", Group), ("Audit log", "history", AuditEntry))),
)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar as this user may see it: a count is made for nobody who cannot look."""
    waiting = [_queue(tally) for tally in tallies(request)]
    home = {"title": "What waits", "icon": "home", "link": reverse("admin:index")}
    groups: list[dict[str, Any]] = [{"title": "Waiting", "items": [home, *waiting] if waiting else []}]
    listed: set[type[Model]] = set()
    for title, entries in LISTED:
        listed |= {model for _, _, model in entries}
        groups.append({"title": title, "separator": True, "items": _items(request, entries)})
    # What other apps register finds its place without being named here.
    others = [model for model in admin.site._registry if model not in listed | {queue.model for queue in QUEUES}]
    rest = [(str(model._meta.verbose_name_plural).capitalize(), "table_rows", model) for model in others]
    groups.append({"title": "More", "separator": True, "items": _items(request, rest)})
    return [group for group in groups if group["items"]]


def _items(request: HttpRequest, entries: Iterable[tuple[str, str, type[Model]]]) -> list[dict[str, Any]]:
    return [{"title": title, "icon": icon, "link": _address(model)} for title, icon, model in entries if _may_view(request, model)]


def _queue(tally: Tally) -> dict[str, Any]:
    queue = tally.queue
    return {"title": queue.title, "icon": queue.icon, "link": queue.list_url, "badge": str(tally.count or "")}


def _address(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def _may_view(request: HttpRequest, model: type[Model]) -> bool:
    model_admin = admin.site._registry.get(model)
    return model_admin is not None and model_admin.has_view_permission(request)
