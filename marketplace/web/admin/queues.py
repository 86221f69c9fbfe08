"""The admin's queues with the numbers of waiting and of claimed rows, read in one query."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Count, DateTimeField, IntegerField, Min, Model, Q, QuerySet, Value
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.urls import reverse
from django_tasks.base import TaskResultStatus

from catalog.models import ListingReview
from catalog.models.reviews import ReviewKind
from developers.models import DeveloperApplication, MetadataReview, ScopeReview, WebhookEndpoint
from marketplace.jobs.models import Job
from marketplace.review.claims import claimed
from marketplace.review.models import Appeal, Claimable
from marketplace.review.queues import QueueAdmin
from marketplace.review.service import staff_of
from vendors.models import VendorProfile
from wallet.models import RefundRequest, WalletOwner, WalletPayout
from wallet.selectors import accounts_to_pay

_QUEUE_COUNTS = "_admin_queue_counts"


@dataclass(frozen=True)
class Queue:
    """Rows that wait for staff."""

    # Its key in the result of the query.
    key: str
    title: str
    model: type[Model]
    # The permission of users who see its card on the first page; in most queues the one to decide on its rows.
    permission: str
    # The waiting rows. Never evaluate it: `queues` keeps it for all requests, and it would keep its rows.
    rows: QuerySet[Any]
    # The field with the time since which a row waits; empty if there is none.
    since: str
    # The parameters that filter the list to it.
    query: Mapping[str, str]

    @property
    def list_url(self) -> str:
        """The URL of the list of its rows."""
        return f"{list_path(self.model)}?{urlencode(self.query)}"

    @property
    def next_url(self) -> str:
        """The URL that claims the first unclaimed row; empty if rows cannot be claimed, as vendors with held payouts, who wait for no review."""
        model_admin = admin.site._registry.get(self.model)
        return model_admin.next_url() if isinstance(model_admin, QueueAdmin) and model_admin.review_permission == self.permission else ""


@dataclass(frozen=True)
class QueueCount:
    """The counts of a queue."""

    queue: Queue
    count: int = 0
    # The time since which the oldest row waits.
    oldest: datetime | None = None
    # The numbers of rows that the viewer and that anyone has claimed.
    mine: int = 0
    claimed: int = 0

    @property
    def others(self) -> int:
        """The number of rows that others have claimed."""
        return self.claimed - self.mine


@cache
def queues() -> tuple[Queue, ...]:
    """Return all queues, in the order of the menu."""
    failing = {"failing_since__isempty": "0", "disabled_at__isempty": "1"}
    return (
        _review_queue("listings", "Listings to review", ListingReview, kind=ReviewKind.LISTING.value),
        _review_queue("updates", "Updates of published listings", ListingReview, kind=ReviewKind.UPDATE.value),
        _review_queue("scopes", "Scopes to decide on", ScopeReview),
        _review_queue("applications", "Developer applications", DeveloperApplication),
        _review_queue("vendors", "Vendors to decide on", VendorProfile),
        _review_queue("documents", "Changed apps and clients", MetadataReview),
        _review_queue("appeals", "Appeals to decide on", Appeal),
        Queue("payouts", "Earnings to pay out", WalletOwner, "wallet.view_walletowner", accounts_to_pay(), "", {"earnings": "due"}),
        Queue(
            "heldPayouts",
            "Vendors with held payouts",
            VendorProfile,
            "vendors.hold_payouts_vendorprofile",
            VendorProfile.objects.filter(payouts_held_at__isnull=False),
            "payouts_held_at",
            {"payouts_held_at__isempty": "0"},
        ),
        _review_queue("walletPayouts", "Wallets to pay out", WalletPayout),
        _review_queue("refundRequests", "Refunds to decide on", RefundRequest),
        Queue(
            "jobs",
            "Failed jobs",
            Job,
            "jobs.retry_job",
            Job.objects.filter(status=TaskResultStatus.FAILED),
            "finished_at",
            {"status__exact": TaskResultStatus.FAILED.value},
        ),
        Queue(
            "webhooks",
            "Failing webhook endpoints",
            WebhookEndpoint,
            "developers.disable_webhookendpoint",
            WebhookEndpoint.objects.filter(failing_since__isnull=False, disabled_at__isnull=True),
            "failing_since",
            failing,
        ),
    )


def _review_queue(key: str, title: str, model: type[Model], **only: str) -> Queue:
    """Return the queue of a model with a `QueueAdmin`, by what waits there; `only` narrows down both the rows and the list."""
    model_admin = cast("QueueAdmin", admin.site._registry[model])
    query = only or {f"{name}__exact": str(value) for name, value in model_admin.waiting.items()}
    return Queue(
        key,
        title,
        model,
        model_admin.review_permission,
        model_admin.waiting_rows().filter(**only),
        model_admin.waiting_since,
        query,
    )


def queue_counts(request: HttpRequest) -> list[QueueCount]:
    """Return the queues that the user may see, counted once for a request: the menu and the first page both show them."""
    found: list[QueueCount] | None = getattr(request, _QUEUE_COUNTS, None)
    if found is None:
        viewer = staff_of(request)
        found = _count([queue for queue in queues() if may_view(request, queue.model)], viewer)
        setattr(request, _QUEUE_COUNTS, found)
    return found


def _count(visible: list[Queue], viewer: Any) -> list[QueueCount]:
    if not visible:
        return []
    first, *others = (_counts_of(queue, viewer) for queue in visible)
    counted = {key: figures for key, *figures in (first.union(*others, all=True) if others else first)}
    return [QueueCount(queue, *counted.get(queue.key, ())) for queue in visible]


def _counts_of(queue: Queue, viewer: Any) -> QuerySet[Any, Any]:
    rows = queue.rows.order_by()
    claimable = issubclass(rows.model, Claimable)
    oldest: Any = Min(queue.since) if queue.since else Cast(Value(None), DateTimeField())
    mine: Any = Count("pk", filter=claimed() & Q(claimed_by=viewer)) if claimable else Value(0, IntegerField())
    claimed_rows: Any = Count("pk", filter=claimed()) if claimable else Value(0, IntegerField())
    named = rows.annotate(queue_key=Value(queue.key)).values("queue_key")
    counted = named.annotate(count=Count("pk"), oldest=oldest, mine=mine, claimed=claimed_rows)
    figures: QuerySet[Any, Any] = counted.values_list("queue_key", "count", "oldest", "mine", "claimed")
    return figures


def list_path(model: type[Model]) -> str:
    """Return the path of a model's list."""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def may_view(request: HttpRequest, model: type[Model]) -> bool:
    """Tell whether the user may see a model's list."""
    model_admin = admin.site._registry.get(model)
    return model_admin is not None and model_admin.has_view_permission(request)
