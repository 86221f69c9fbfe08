"""Prometheus gauges that are read from the database at each scrape (jobs, workers, webhooks), and probes of the file store and of workers for `/readyz`."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

from django.db.models import Case, Count, F, Min, When
from django.db.models.functions import Greatest, Now
from django.utils import timezone
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import get_date_max
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from developers.models import WebhookDelivery, WebhookEndpoint
from developers.models.webhooks import DeliveryStatus
from marketplace.jobs.models import Job, Worker
from marketplace.jobs.policy import SCHEDULE_QUEUE
from marketplace.jobs.queue import LOST_AFTER
from marketplace.monitoring.health import NotReady
from marketplace.storage import default_storage

COUNTED_STATUSES = (TaskResultStatus.READY, TaskResultStatus.RUNNING, TaskResultStatus.FAILED)
RECENT = timedelta(hours=1)


def jobs() -> Iterator[Metric]:
    """Yield the number of jobs by queue and status, the longest wait and run, and the number of running workers."""
    depth = GaugeMetricFamily(
        "marketplace_jobs", "Jobs in the queue by queue and status; FAILED ones are not retried any more.", labels=("queue", "status")
    )
    rows = Job.objects.filter(status__in=COUNTED_STATUSES).order_by().values_list("queue_name", "status").annotate(Count("pk"))
    for queue_name, status, count in rows:
        depth.add_metric((queue_name, status), count)
    yield depth
    yield GaugeMetricFamily("marketplace_jobs_oldest_seconds", "How long the oldest ready job has been due.", value=oldest_wait())
    yield GaugeMetricFamily(
        "marketplace_jobs_running_seconds", "How long the longest running job has run, apart from scheduled commands.", value=longest_run()
    )
    yield GaugeMetricFamily("marketplace_workers", "Workers that reported recently.", value=live_workers())


def webhooks() -> Iterator[Metric]:
    """Yield the number of deliveries of recent events by status, and of failing endpoints."""
    counts = dict.fromkeys(DeliveryStatus.values, 0)
    recent = WebhookDelivery.objects.filter(event__created_at__gt=timezone.now() - RECENT)
    counts |= dict(recent.order_by().values_list("status").annotate(Count("pk")))
    family = GaugeMetricFamily("marketplace_webhook_deliveries", "Deliveries of the last hour's events by status.", labels=("status",))
    for status, count in counts.items():
        family.add_metric((status,), count)
    yield family
    failing = WebhookEndpoint.objects.filter(failing_since__isnull=False, disabled_at=None).count()
    yield GaugeMetricFamily("marketplace_webhook_endpoints_failing", "Endpoints whose last delivery failed.", value=failing)


def oldest_wait() -> float:
    """Return for how many seconds the oldest ready job has been due."""
    # A job without a start time is due when it is enqueued.
    due = Case(When(run_after=get_date_max(), then=F("enqueued_at")), default=Greatest("enqueued_at", "run_after"))
    oldest = Job.objects.ready().order_by().aggregate(due=Min(due))["due"]
    return 0.0 if oldest is None else max(0.0, (timezone.now() - oldest).total_seconds())


def longest_run() -> float:
    """Return for how many seconds the longest running job has run, apart from scheduled commands, which may take `MAX_RUNTIME`."""
    began = Job.objects.running().exclude(queue_name=SCHEDULE_QUEUE).order_by().aggregate(began=Min("started_at"))["began"]
    return 0.0 if began is None else max(0.0, (timezone.now() - began).total_seconds())


def live_workers() -> int:
    """Return the number of workers that reported recently, by the database's clock."""
    return Worker.objects.filter(seen_at__gt=Now() - LOST_AFTER).count()


def probe_workers() -> None:
    """Check that a worker is running.

    Raises:
        NotReady: no worker is running.
    """
    if not live_workers():
        raise NotReady("no worker is running: start manage.py worker")


def probe_objects() -> None:
    """Make a request to the file store."""
    with suppress(FileNotFoundError):
        default_storage.size("health/probe")
