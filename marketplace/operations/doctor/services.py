"""Checks of the services that the installation uses: cache, file store, mail server, workers."""

import urllib.error
import urllib.request
from datetime import timedelta

from django.conf import settings
from django.core.mail import get_connection
from django_tasks.base import TaskResultStatus

from marketplace.core.ids import new_id
from marketplace.jobs.models import Job
from marketplace.jobs.schedule import overdue_commands
from marketplace.monitoring import health
from marketplace.storage import default_storage

from .. import gauges
from ..site_pages import unwritten_pages
from .findings import CheckResults, Status

LATE_SECONDS = 600
# Longer than any job should take, apart from scheduled commands.
LONG_SECONDS = 3600
LINK_SECONDS = 10


def check_cache() -> CheckResults:
    """Check that the cache keeps values."""
    health.probe_cache()
    if any("locmem" in str(entry["BACKEND"]) for entry in settings.CACHES.values()):
        yield Status.OK, "Values are kept in the memory of the process, which only works with a single process.", ""
    else:
        yield Status.OK, "The cache stores and returns values.", ""


def check_objects() -> CheckResults:
    """Write, read, link and delete a small object."""
    store, key, content = default_storage, f"health/{new_id()}", b"doctor"
    store.save_bytes(key, content)
    try:
        if b"".join(store.read(key)) != content:
            yield Status.FAIL, "The store returned different data from what was stored.", "Do not use it."
            return
        link = store.presigned_url(key, seconds=LINK_SECONDS, filename="doctor.txt", content_type="text/plain")
        yield Status.OK, f"{store.__class__.__name__} writes, reads and deletes.", ""
        if link is not None:
            yield _check_link(link, content)
    finally:
        store.delete(key)


def _check_link(link: str, content: bytes) -> tuple[Status, str, str]:
    try:
        with urllib.request.urlopen(link, timeout=LINK_SECONDS) as response:  # noqa: S310 - our own store's address
            same = response.read(len(content) + 1) == content
    except urllib.error.HTTPError as refusal:
        remedy = "Check the secret key and the clock, and that the proxy in front of the file store passes on the Host header unchanged."
        return Status.FAIL, f"A presigned link returns status {refusal.code}.", remedy
    except OSError as error:
        remedy = (
            "Set S3_PUBLIC_ENDPOINT_URL to the address at which browsers reach the file store. It may not be reachable from this machine."
        )
        return Status.WARN, f"A presigned link could not be followed: {error}.", remedy
    return (
        (Status.OK, "Presigned links work.", "")
        if same
        else (Status.FAIL, "A presigned link returns other content.", "Check S3_PUBLIC_ENDPOINT_URL.")
    )


def check_mail() -> CheckResults:
    """Check that the mail server accepts the credentials."""
    if settings.SANDBOX:
        yield Status.OK, "A sandbox sends no mail.", ""
        return
    if not settings.MAIL_TRANSPORT.endswith("smtp.EmailBackend"):
        yield Status.WARN, f"Mails go to {settings.MAIL_TRANSPORT}.", "Set EMAIL_URL, otherwise no mails are delivered."
        return
    server = get_connection(settings.MAIL_TRANSPORT)
    server.open()
    server.close()
    yield Status.OK, "The mail server accepts the credentials.", ""


def check_site_pages() -> CheckResults:
    """Check that the operator has written terms, privacy, refunds and contact."""
    missing = unwritten_pages()
    if missing:
        names = ", ".join(page.label for page in missing)
        yield Status.WARN, f"Not written yet: {names}.", "Write them in the admin, under Site pages."
    else:
        yield Status.OK, "Terms, privacy, refunds and contact are written.", ""


def check_worker() -> CheckResults:
    """Check for running workers, for the schedule, and for jobs that wait or run long or have failed."""
    alive, waits, runs = gauges.live_workers(), gauges.oldest_wait(), gauges.longest_run()
    # Without a worker nothing is enqueued, which needs no second warning.
    overdue = overdue_commands(timedelta(seconds=LATE_SECONDS)) if alive else []
    failed = Job.objects.filter(status=TaskResultStatus.FAILED).count()
    if not alive:
        yield Status.WARN, "No worker is running.", "Run `manage.py worker`, or a server with WORKER_IN_SERVER."
    if waits > LATE_SECONDS:
        yield (
            Status.FAIL,
            f"A job has been waiting for {waits / 60:.0f} minutes.",
            "Run more workers, or check in the admin what blocks them.",
        )
    if runs > LONG_SECONDS:
        yield (
            Status.WARN,
            f"A job has been running for {runs / 60:.0f} minutes.",
            "See Jobs in the admin. If it hangs, restart its worker; the job is tried again.",
        )
    if overdue:
        yield (
            Status.WARN,
            f"{len(overdue)} scheduled commands were due and not enqueued, such as {overdue[0]}."
            if len(overdue) > 1
            else f"The scheduled command {overdue[0]} was due and not enqueued.",
            "Run a worker without --no-schedule; if it has --queues, they must include schedule. Ignore this if something else runs the commands, such as cron.",
        )
    if failed:
        yield (
            Status.WARN,
            f"{failed} jobs failed for good.",
            "See Jobs in the admin; start them again there once the cause is fixed.",
        )
    if alive and not failed and not overdue and waits <= LATE_SECONDS and runs <= LONG_SECONDS:
        yield Status.OK, f"Workers running: {alive}. No job has waited for long.", ""
