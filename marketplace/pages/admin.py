"""The admin's sidebar: the queues with the number that waits in each, then everything else."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from catalog.models import Category, LicenseTier, Listing, ListingReview, RejectionReason, Store
from catalog.models.reviews import ReviewStatus
from developers.models import AccessToken, ApiKey, App, ClientDocument, Consent, DeveloperApplication, ScopeReview
from developers.models.applications import ApplicationStatus
from developers.models.apps import ReviewStatus as ScopeReviewStatus
from developers.models.clients import DocumentStatus
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from vendors.models import VendorProfile, VendorStatus
from wallet.models import Order, Payout, WalletOwner

QUEUES: tuple[tuple[str, str, type[Model], Mapping[str, str]], ...] = (
    ("Listings to review", "rate_review", ListingReview, {"status": ReviewStatus.PENDING}),
    ("Scopes to decide", "key", ScopeReview, {"status": ScopeReviewStatus.PENDING}),
    ("Changed clients", "difference", ClientDocument, {"status": DocumentStatus.CHANGED}),
    ("Developer applications", "person_add", DeveloperApplication, {"status": ApplicationStatus.PENDING}),
    ("Vendors to decide", "storefront", VendorProfile, {"status": VendorStatus.PENDING}),
)
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
        (("Apps", "apps", App), ("API keys", "vpn_key", ApiKey), ("Tokens", "token", AccessToken), ("Consents", "handshake", Consent)),
    ),
    ("Money", (("Wallets", "account_balance_wallet", WalletOwner), ("Orders", "receipt_long", Order), ("Payouts", "payments", Payout))),
    ("People", (("Users", "group", User), ("Groups", "groups", Group), ("Audit log", "history", AuditEntry))),
)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar as this user may see it: a count is made for nobody who cannot look."""
    queues = [_queue(*queue) for queue in QUEUES if _may_view(request, queue[2])]
    groups: list[dict[str, Any]] = [{"title": "Waiting", "items": queues}]
    listed: set[type[Model]] = set()
    for title, entries in LISTED:
        listed |= {model for _, _, model in entries}
        groups.append({"title": title, "separator": True, "items": _items(request, entries)})
    # What other apps register finds its place without being named here.
    others = [model for model in admin.site._registry if model not in listed | {queue[2] for queue in QUEUES}]
    rest = [(str(model._meta.verbose_name_plural).capitalize(), "table_rows", model) for model in others]
    groups.append({"title": "More", "separator": True, "items": _items(request, rest)})
    return [group for group in groups if group["items"]]


def _items(request: HttpRequest, entries: Iterable[tuple[str, str, type[Model]]]) -> list[dict[str, Any]]:
    return [{"title": title, "icon": icon, "link": _address(model)} for title, icon, model in entries if _may_view(request, model)]


def _queue(title: str, icon: str, model: type[Model], waiting: Mapping[str, str]) -> dict[str, Any]:
    count = model._default_manager.filter(**waiting).count()
    query = "&".join(f"{name}__exact={value}" for name, value in waiting.items())
    return {"title": title, "icon": icon, "link": f"{_address(model)}?{query}", "badge": str(count)}


def _address(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def _may_view(request: HttpRequest, model: type[Model]) -> bool:
    model_admin = admin.site._registry.get(model)
    return model_admin is not None and model_admin.has_view_permission(request)
