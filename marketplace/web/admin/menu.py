"""The admin's menu: the queues with the number that waits in each, then everything else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from catalog.models import Category, Discount, FeaturedListing, LicenseTerms, LicenseTier, Listing, RejectionReason, SearchSynonym, Store
from developers.models import AccessToken, ApiKey, App, Consent, WebhookEndpoint
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from vendors.models import VendorProfile
from wallet.models import (
    Approval,
    CardReversal,
    ExchangeRate,
    Invoice,
    Order,
    PayoutBatch,
    ProviderEvent,
    Seller,
    TaxRate,
    TopUp,
    VendorPayout,
    WalletOwner,
)

from .queues import list_path, may_view, queue_counts, queues

LISTED: dict[str, tuple[type[Model], ...]] = {
    "Catalog": (
        Listing,
        FeaturedListing,
        Discount,
        Store,
        VendorProfile,
        Category,
        LicenseTier,
        LicenseTerms,
        RejectionReason,
        SearchSynonym,
    ),
    "Developers": (App, ApiKey, AccessToken, Consent, WebhookEndpoint),
    "Money": (WalletOwner, Order, Approval, PayoutBatch, VendorPayout, Invoice, TopUp, CardReversal, ProviderEvent),
    "Taxes": (Seller, TaxRate, ExchangeRate),
    "People": (User, Group, AuditEntry),
}
# The titles of lists that are not named as their model is.
TITLES: dict[type[Model], str] = {
    VendorProfile: "Vendors",
    ApiKey: "API keys",
    AccessToken: "Tokens",
    VendorPayout: "Payouts",
    CardReversal: "Disputes and refunds",
    Seller: "Sellers of record",
    AuditEntry: "Audit log",
}


@dataclass
class MenuEntry:
    """A link of the menu."""

    title: str
    path: str
    # Parameters that filter the list there.
    query: Mapping[str, str] = field(default_factory=dict)
    # The number of rows that wait there.
    waiting: int = 0
    # `page` for the page that is shown, `true` for one that it belongs to; empty for all others.
    current: str = ""

    @property
    def address(self) -> str:
        """The path with the query."""
        return f"{self.path}?{urlencode(self.query)}".rstrip("?")


def menu(request: HttpRequest) -> list[tuple[str, list[MenuEntry]]]:
    """Return the titles and links of the menu of this user; nothing is counted that the user may not see."""
    waiting = [MenuEntry(each.queue.title, list_path(each.queue.model), each.queue.query, each.count) for each in queue_counts(request)]
    home = MenuEntry("Review queues", reverse("admin:index"))
    sections = [("Waiting", [home, *waiting])]
    sections += [(title, _entries(request, models)) for title, models in LISTED.items()]
    # Models that other apps register are listed without being named here.
    named = {queue.model for queue in queues()}.union(*LISTED.values())
    sections.append(("More", _entries(request, (model for model in admin.site._registry if model not in named))))
    _mark_current(request, [entry for _, entries in sections for entry in entries])
    return [(title, entries) for title, entries in sections if entries]


def _entries(request: HttpRequest, models: Iterable[type[Model]]) -> list[MenuEntry]:
    return [
        MenuEntry(TITLES.get(model) or str(model._meta.verbose_name_plural).capitalize(), list_path(model))
        for model in models
        if may_view(request, model)
    ]


def _mark_current(request: HttpRequest, entries: list[MenuEntry]) -> None:
    """Mark the entry of the current page or list; of lists with a query, the one that the user came from."""
    here, home = request.path, reverse("admin:index")
    asked = request.GET if here in {entry.path for entry in entries} else QueryDict(request.GET.get("_changelist_filters", ""))
    fitting = [
        entry
        for entry in entries
        if (here == entry.path or (entry.path != home and here.startswith(entry.path)))
        and all(asked.get(name) == value for name, value in entry.query.items())
    ]
    if fitting:
        best = max(fitting, key=lambda entry: (len(entry.query), len(entry.path)))
        best.current = "page" if here == best.path else "true"
