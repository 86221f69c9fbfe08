"""The admin's queues with the numbers of waiting and of claimed rows, read in one query."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Count, DateTimeField, IntegerField, Min, Model, Q, QuerySet, Value
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.urls import reverse
from django_tasks.base import TaskResultStatus

from catalog.models import ListingReview
from catalog.models.reviews import ReviewKind, ReviewStatus
from developers.models import ClientDocument, DeveloperApplication, ScopeReview, WebhookEndpoint
from developers.models.applications import ApplicationStatus
from developers.models.apps import ReviewStatus as ScopeReviewStatus
from developers.models.clients import DocumentStatus
from marketplace.jobs.models import Job
from marketplace.review.claims import claimed
from marketplace.review.models import Claimable
from marketplace.review.queues import QueueAdmin
from marketplace.review.service import staff_of
from vendors.models import VendorProfile, VendorStatus
from wallet.models import WalletOwner, WalletPayout
from wallet.models.wallet_payouts import WalletPayoutStatus
from wallet.selectors import accounts_to_pay

_TALLIES = "_admin_tallies"


@dataclass(frozen=True)
class Queue:
    """Rows that wait for staff.

    Args:
        key: Its name in the query.
        title: Its heading.
        model: The model whose list it is in.
        permission: The permission to work on it.
        rows: Returns the waiting rows.
        since: The field with the time since when a row waits; empty if there is none.
        query: The parameters that filter the list to it.
    """

    key: str
    title: str
    model: type[Model]
    permission: str
    rows: Callable[[], QuerySet[Any]]
    since: str
    query: Mapping[str, str]

    @property
    def list_url(self) -> str:
        """Where the rows are listed."""
        opts = self.model._meta
        return f"{reverse(f'admin:{opts.app_label}_{opts.model_name}_changelist')}?{urlencode(self.query)}"

    @property
    def next_url(self) -> str:
        """Where the first unclaimed row is claimed; empty if rows cannot be claimed."""
        opts = self.model._meta
        claimable = isinstance(admin.site._registry.get(self.model), QueueAdmin)
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_next") if claimable else ""


@dataclass(frozen=True)
class Tally:
    """The counts of a queue.

    Args:
        queue: The queue.
        count: How many rows wait.
        oldest: Since when the oldest waits.
        mine: How many the viewer has claimed.
        held: How many anyone has claimed.
    """

    queue: Queue
    count: int = 0
    oldest: datetime | None = None
    mine: int = 0
    held: int = 0

    @property
    def others(self) -> int:
        """How many others have claimed."""
        return self.held - self.mine


def _pending(kind: ReviewKind) -> QuerySet[ListingReview]:
    return ListingReview.objects.filter(status=ReviewStatus.PENDING, kind=kind)


def _state(value: str) -> dict[str, str]:
    return {"status__exact": value}


QUEUES = (
    Queue(
        "listings",
        "Listings to review",
        ListingReview,
        "catalog.review_listing",
        lambda: _pending(ReviewKind.LISTING),
        "submitted_at",
        {"kind": ReviewKind.LISTING.value},
    ),
    Queue(
        "updates",
        "Updates of published listings",
        ListingReview,
        "catalog.review_listing",
        lambda: _pending(ReviewKind.UPDATE),
        "submitted_at",
        {"kind": ReviewKind.UPDATE.value},
    ),
    Queue(
        "scopes",
        "Scopes to decide",
        ScopeReview,
        "developers.decide_app",
        lambda: ScopeReview.objects.filter(status=ScopeReviewStatus.PENDING),
        "requested_at",
        _state(ScopeReviewStatus.PENDING),
    ),
    Queue(
        "applications",
        "Developer applications",
        DeveloperApplication,
        "developers.decide_developerapplication",
        lambda: DeveloperApplication.objects.filter(status=ApplicationStatus.PENDING),
        "submitted_at",
        _state(ApplicationStatus.PENDING),
    ),
    Queue(
        "vendors",
        "Vendors to decide",
        VendorProfile,
        "vendors.decide_vendorprofile",
        lambda: VendorProfile.objects.filter(status=VendorStatus.PENDING),
        "applied_at",
        _state(VendorStatus.PENDING),
    ),
    Queue(
        "documents",
        "Changed clients",
        ClientDocument,
        "developers.decide_app",
        lambda: ClientDocument.objects.filter(status=DocumentStatus.CHANGED),
        "read_at",
        _state(DocumentStatus.CHANGED),
    ),
    Queue(
        "payouts",
        "Earnings to pay out",
        WalletOwner,
        "wallet.view_walletowner",
        accounts_to_pay,
        "",
        {"earnings": "due"},
    ),
    Queue(
        "heldPayouts",
        "Vendors with held payouts",
        VendorProfile,
        "vendors.hold_payouts_vendorprofile",
        lambda: VendorProfile.objects.filter(payouts_held_at__isnull=False),
        "payouts_held_at",
        {"payouts_held_at__isempty": "0"},
    ),
    Queue(
        "walletPayouts",
        "Wallets to pay out",
        WalletPayout,
        "wallet.decide_walletpayout",
        lambda: WalletPayout.objects.filter(status=WalletPayoutStatus.WAITING),
        "requested_at",
        _state(WalletPayoutStatus.WAITING),
    ),
    Queue(
        "jobs",
        "Failed jobs",
        Job,
        "jobs.retry_job",
        lambda: Job.objects.filter(status=TaskResultStatus.FAILED),
        "finished_at",
        _state(TaskResultStatus.FAILED),
    ),
    Queue(
        "webhooks",
        "Failing webhook endpoints",
        WebhookEndpoint,
        "developers.disable_webhookendpoint",
        lambda: WebhookEndpoint.objects.filter(failing_since__isnull=False, disabled_at__isnull=True),
        "failing_since",
        {"failing_since__isempty": "0", "disabled_at__isempty": "1"},
    ),
)


def tallies(request: HttpRequest) -> list[Tally]:
    """Return the queues that the user may see, counted once for a request: the menu and the first page both show them."""
    found: list[Tally] | None = getattr(request, _TALLIES, None)
    if found is None:
        viewer = staff_of(request)
        queues = [queue for queue in QUEUES if _may_view(request, queue.model)]
        found = _count(queues, viewer)
        setattr(request, _TALLIES, found)
    return found


def _count(queues: list[Queue], viewer: Any) -> list[Tally]:
    if not queues:
        return []
    first, *others = (_tally(queue, viewer) for queue in queues)
    counted = {key: figures for key, *figures in first.union(*others, all=True)} if others else {key: figures for key, *figures in first}
    return [Tally(queue, *counted.get(queue.key, ())) for queue in queues]


def _tally(queue: Queue, viewer: Any) -> QuerySet[Any, Any]:
    rows = queue.rows().order_by()
    claimable = issubclass(rows.model, Claimable)
    oldest: Any = Min(queue.since) if queue.since else Cast(Value(None), DateTimeField())
    mine: Any = Count("pk", filter=claimed() & Q(claimed_by=viewer)) if claimable else Value(0, IntegerField())
    held: Any = Count("pk", filter=claimed()) if claimable else Value(0, IntegerField())
    named = rows.annotate(queue_key=Value(queue.key)).values("queue_key")
    counted = named.annotate(count=Count("pk"), oldest=oldest, mine=mine, held=held)
    figures: QuerySet[Any, Any] = counted.values_list("queue_key", "count", "oldest", "mine", "held")
    return figures


def _may_view(request: HttpRequest, model: type[Model]) -> bool:
    model_admin = admin.site._registry.get(model)
    return model_admin is not None and model_admin.has_view_permission(request)
