"""The admin's menu: the queues with the number that waits in each, then everything else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

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

LISTED: tuple[tuple[str, tuple[tuple[str, type[Model]], ...]], ...] = (
    (
        "Catalog",
        (
            ("Listings", Listing),
            ("Featured listings", FeaturedListing),
            ("Discounts", Discount),
            ("Stores", Store),
            ("Vendors", VendorProfile),
            ("Categories", Category),
            ("Licence tiers", LicenseTier),
            ("Licence terms", LicenseTerms),
            ("Rejection reasons", RejectionReason),
            ("Search synonyms", SearchSynonym),
        ),
    ),
    (
        "Developers",
        (
            ("Apps", App),
            ("API keys", ApiKey),
            ("Tokens", AccessToken),
            ("Consents", Consent),
            ("Webhook endpoints", WebhookEndpoint),
        ),
    ),
    (
        "Money",
        (
            ("Wallets", WalletOwner),
            ("Orders", Order),
            ("Approvals", Approval),
            ("Payout batches", PayoutBatch),
            ("Payouts", VendorPayout),
            ("Invoices", Invoice),
            ("Top-ups", TopUp),
            ("Disputes and refunds", CardReversal),
            ("Provider events", ProviderEvent),
        ),
    ),
    ("Taxes", (("Sellers of record", Seller), ("Tax rates", TaxRate), ("Exchange rates", ExchangeRate))),
    ("People", (("Users", User), ("Groups", Group), ("Audit log", AuditEntry))),
)


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
        asked = QueryDict(mutable=True)
        asked.update(dict(self.query))
        return f"{self.path}?{asked.urlencode()}".rstrip("?")


@dataclass(frozen=True)
class MenuSection:
    """Links that belong together."""

    title: str
    entries: list[MenuEntry]


def menu(request: HttpRequest) -> list[MenuSection]:
    """Return the menu of this user; nothing is counted that the user may not see."""
    waiting = [MenuEntry(each.queue.title, list_path(each.queue.model), each.queue.query, each.count) for each in queue_counts(request)]
    home = MenuEntry("Review queues", reverse("admin:index"))
    sections = [MenuSection("Waiting", [home, *waiting])]
    listed: set[type[Model]] = set()
    for title, lists in LISTED:
        listed |= {model for _, model in lists}
        sections.append(MenuSection(title, _entries(request, lists)))
    # Models that other apps register are listed without being named here.
    others = [model for model in admin.site._registry if model not in listed | {queue.model for queue in queues()}]
    rest = [(str(model._meta.verbose_name_plural).capitalize(), model) for model in others]
    sections.append(MenuSection("More", _entries(request, rest)))
    _mark(request, [entry for section in sections for entry in section.entries])
    return [section for section in sections if section.entries]


def _entries(request: HttpRequest, lists: Iterable[tuple[str, type[Model]]]) -> list[MenuEntry]:
    return [MenuEntry(title, list_path(model)) for title, model in lists if may_view(request, model)]


def _mark(request: HttpRequest, entries: list[MenuEntry]) -> None:
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
