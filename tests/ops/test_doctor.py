"""The commands of operators, in the test's own process: doctor, purge, and the gauges of what waits."""

import json
import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.utils import timezone

from catalog.models import SearchDocument
from marketplace.core.apps import AUDIT_LOG_TRIGGERS
from marketplace.core.errors import DependencyUnavailable
from marketplace.jobs.mailing import send_mail
from marketplace.jobs.models import Job, Schedule, Worker
from marketplace.jobs.schedule import enqueue_due_commands, overdue_commands, run_command
from marketplace.monitoring import health
from marketplace.monitoring.health import NotReady
from marketplace.operations import doctor, gauges
from marketplace.operations.doctor import node, services
from marketplace.operations.management.commands import make_bucket
from marketplace.storage import default_storage
from marketplace.storage.s3 import S3Storage
from tests.callers import said

from ..servers.ports import free_port
from ..servers.s3 import S3Server
from ..shop import archive, on_sale

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


def examined() -> dict[str, str]:
    """Return the worst status of each part."""
    found: dict[str, str] = {}
    order = list(doctor.Status)
    for finding in doctor.examine():
        found[finding.part] = max(
            found.get(finding.part, "ok"), finding.status.value, key=lambda status: order.index(doctor.Status(status))
        )
        assert bool(finding.remedy) == (finding.status != doctor.Status.OK), finding
    return found


@pytest.mark.slow
def test_doctor_finds_no_failure_in_a_correct_installation() -> None:
    on_sale(archive("a"))
    found = examined()
    assert "fail" not in found.values(), found
    assert {"settings", "database", "migrations", "constraints", "clock", "cache", "objects", "search", "disk", "certificates"} <= {
        part for part, status in found.items() if status == "ok"
    } | {"disk"}


@pytest.mark.slow
def test_missing_trigger_and_unfound_listing_are_named_and_end_with_an_error() -> None:
    on_sale(archive("b"))
    SearchDocument.objects.all().delete()
    trigger = AUDIT_LOG_TRIGGERS.triggers(connection.vendor)[0]
    with connection.cursor() as cursor:
        cursor.execute(trigger.drop_sql(connection.vendor))
    out = StringIO()
    with pytest.raises(CommandError, match="failed"):
        call_command("doctor", "--json", stdout=out)
    failed = {row["message"]: row["remedy"] for row in json.loads(out.getvalue()) if row["status"] == "fail"}
    assert f"The database lacks trigger {trigger.name}." in failed
    assert failed["1 listings for sale are not in the search index."] == "Run `manage.py rebuild_search`."


@pytest.mark.slow
def test_doctor_reports_a_wrong_clock_and_a_full_disk_and_checks_the_other_parts_if_one_check_crashes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def down() -> None:
        raise DependencyUnavailable("The file store cannot be reached.")

    monkeypatch.setattr(services, "default_storage", down)
    monkeypatch.setattr("marketplace.operations.doctor.database.time.time", lambda: 0.0)
    monkeypatch.setattr(node, "FULL_BYTES", 2**80)
    found = examined()
    assert [found[part] for part in ("objects", "clock", "disk", "certificates")] == ["fail", "fail", "fail", "ok"]


def test_doctor_of_an_empty_database_names_one_failure_and_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def unmigrated() -> None:
        raise NotReady("91 migrations are not applied")

    monkeypatch.setattr(health, "probe_migrations", unmigrated)
    with connection.cursor() as cursor:
        cursor.execute(AUDIT_LOG_TRIGGERS.triggers(connection.vendor)[0].drop_sql(connection.vendor))
    failed = [(finding.part, finding.remedy) for finding in doctor.examine() if finding.status == doctor.Status.FAIL]
    assert [found for found in failed if found[0] != "disk"] == [("migrations", "Run `manage.py migrate`.")]


def test_doctor_tells_why_the_file_store_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_args: Any) -> None:
        raise DependencyUnavailable("The file store refused the request.") from OSError("The specified bucket does not exist")

    monkeypatch.setattr(default_storage, "save_bytes", refused)
    messages = [finding.message for finding in doctor.examine() if finding.part == "objects"]
    assert messages == ["OSError: The specified bucket does not exist"]


def test_purge_counts_then_deletes_every_part_and_refuses_an_unknown_one() -> None:
    Session.objects.create(session_key="a" * 32, expire_date=timezone.now() - timedelta(days=1))
    Session.objects.create(session_key="b" * 32, expire_date=timezone.now() + timedelta(days=1))
    assert "1 sessions would be deleted." in said("purge", "--dry-run")
    assert Session.objects.count() == 2
    with pytest.raises(CommandError, match=r"There is no payouts; the parts are sessions,"):
        call_command("purge", "payouts")
    assert re.search(r"^\d+ expired quotes, .* deleted\.$", said("purge"), re.MULTILINE)
    assert Session.objects.count() == 1


def test_worker_that_stopped_reporting_is_down_until_it_reports_again() -> None:
    with pytest.raises(NotReady, match="no worker"):
        gauges.probe_workers()
    Worker.objects.create(id="w", host="here", pid=1, seen_at=timezone.now() - timedelta(hours=1))
    assert gauges.live_workers() == 0
    Worker.objects.update(seen_at=timezone.now())
    gauges.probe_workers()


def test_gauges_show_waiting_jobs_and_live_workers() -> None:
    shown = {sample.name: sample.value for family in gauges.jobs() for sample in family.samples}
    assert shown["marketplace_workers"] == 0
    assert shown["marketplace_jobs_oldest_seconds"] == shown["marketplace_jobs_running_seconds"] == 0


def test_wait_of_a_job_begins_when_it_is_due(jobs_wait: None) -> None:
    now = timezone.now()
    later = Job.objects.get(pk=send_mail.using(run_after=now + timedelta(hours=1)).enqueue("").id)
    Job.objects.filter(pk=later.pk).update(enqueued_at=now - timedelta(hours=2))
    assert gauges.oldest_wait() == 0
    fresh = Job.objects.get(pk=send_mail.enqueue("").id)
    Job.objects.filter(pk=fresh.pk).update(enqueued_at=now - timedelta(hours=1))
    assert gauges.oldest_wait() == pytest.approx(3600, abs=60)
    assert "A job has been waiting for 60 minutes." in [message for _, message, _ in services.check_worker()]


def test_job_that_hangs_in_a_live_worker_is_told(jobs_wait: None) -> None:
    now = timezone.now()
    job, command = send_mail.enqueue(""), run_command.enqueue("verify_checksums")
    Job.objects.filter(pk=job.id).update(status="RUNNING", started_at=now - timedelta(minutes=59))
    # It may take hours.
    Job.objects.filter(pk=command.id).update(status="RUNNING", started_at=now - timedelta(hours=5))
    assert gauges.longest_run() == pytest.approx(59 * 60, abs=60)
    assert [message for _, message, _ in services.check_worker() if "running for" in message] == []
    Job.objects.filter(pk=job.id).update(started_at=now - timedelta(minutes=90))
    assert "A job has been running for 90 minutes." in [message for _, message, _ in services.check_worker()]


def test_job_that_waits_or_runs_for_as_long_as_is_allowed_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauges, "oldest_wait", lambda: services.LATE_SECONDS)
    monkeypatch.setattr(gauges, "longest_run", lambda: services.LONG_SECONDS)
    monkeypatch.setattr(gauges, "live_workers", lambda: 1)
    monkeypatch.setattr(services, "overdue_commands", lambda _late: [])
    assert [message for _, message, _ in services.check_worker()] == ["Workers running: 1. No job has waited for long."]


def test_schedule_that_no_worker_runs_is_told(settings: Any) -> None:
    settings.SCHEDULE = (("purge", timedelta(days=1), timedelta()), ("reconcile", timedelta(minutes=1), timedelta()))
    told = "{} scheduled commands were due and not enqueued, such as {}."

    def messages() -> list[str]:
        return [message for _, message, _ in services.check_worker()]

    # No worker at all is another warning.
    assert messages() == ["No worker is running."]
    Worker.objects.create(id="w", host="here", pid=1, seen_at=timezone.now())
    assert messages() == [told.format(2, "purge")]
    enqueue_due_commands()
    assert messages() == ["Workers running: 1. No job has waited for long."]
    Schedule.objects.update(last_due_at=F("last_due_at") - timedelta(minutes=11))
    assert "reconcile" in overdue_commands(timedelta(minutes=10))
    assert "reconcile" not in overdue_commands(timedelta(minutes=20))
    Schedule.objects.filter(command="purge").update(last_due_at=timezone.now() - timedelta(days=2))
    assert messages() == [told.format(2, "purge")]
    Schedule.objects.filter(command="reconcile").update(last_due_at=timezone.now())
    assert messages() == ["The scheduled command purge was due and not enqueued."]


def test_sandbox_needs_no_mail_server(settings: Any) -> None:
    settings.SANDBOX = True
    assert [(status, remedy) for status, _, remedy in services.check_mail()] == [(doctor.Status.OK, "")]


@pytest.mark.s3
def test_bucket_is_made_once_and_its_links_are_followed(
    s3_server: S3Server, s3_storage: S3Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = S3Storage(**s3_server.storage_options() | {"bucket_name": "made-by-command"})
    for module in (services, make_bucket):
        monkeypatch.setattr(module, "default_storage", store)
    assert said("make_bucket") == "The bucket made-by-command was created.\n"
    assert said("make_bucket") == "The bucket made-by-command already exists.\n"

    def objects() -> list[tuple[str, str]]:
        return [(finding.status.value, finding.message) for finding in doctor.examine() if finding.part == "objects"]

    works = ("ok", "S3Storage writes, reads and deletes.")
    assert objects() == [works, ("ok", "Presigned links work.")]
    monkeypatch.setattr(store, "presigned_url", lambda *_args, **_kwargs: f"http://127.0.0.1:{free_port()}/health")
    first, (status, sentence) = objects()
    assert (first, status) == (works, "warn")
    assert "could not be followed" in sentence
    # Somebody is there, and refuses: the secret is another, or a proxy asks under another name.
    monkeypatch.setattr(
        store, "presigned_url", lambda *given, **more: f"{str(S3Storage.presigned_url(store, *given, **more))[:-8]}00000000"
    )
    first, (status, sentence) = objects()
    assert (first, status) == (works, "fail")
    assert "403" in sentence
    # What it wrote is gone.
    assert list(store.keys_with_times("health/")) == []
