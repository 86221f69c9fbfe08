"""Workers in processes of their own, on the database of the tests: stopped, killed, and side by side."""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from marketplace.jobs.models import Job, Worker
from marketplace.jobs.queue import record_outcome
from marketplace.jobs.worker import JobWorker, QueueThreads
from tests import ROOT

from ..flows.server import environment, management
from ..waiting import PATIENCE_SECONDS, until
from . import tasks

pytestmark = pytest.mark.django_db(transaction=True)

Start = Callable[..., "subprocess.Popen[str]"]


def database_url() -> str:
    known = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite://{known['NAME']}"
    return f"postgres://{known['USER']}:{known['PASSWORD']}@{known['HOST']}:{known['PORT']}/{known['NAME']}"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `manage.py worker` with some words; what still runs at the end is killed."""
    begun: list[subprocess.Popen[str]] = []
    env = environment(tmp_path, "http://127.0.0.1:9", {"DATABASE_URL": database_url(), "PYTHONUNBUFFERED": "1"})

    def run(*words: str) -> "subprocess.Popen[str]":
        command = management("worker", "--no-schedule", *words)
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        begun.append(process)
        return process

    yield run
    for process in begun:
        process.kill()
        process.communicate()


def until_begun(path: Path, worker: "subprocess.Popen[str]") -> None:
    until(lambda: path.exists() or worker.poll() is not None, "a job that is begun")
    assert path.exists(), worker.communicate()[0]


def statuses() -> list[str]:
    return sorted(Job.objects.values_list("status", flat=True))


@pytest.mark.database
@pytest.mark.full
def test_many_jobs_are_done_once_by_two_workers(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    for number in range(60):
        tasks.note.enqueue(str(path), f"job {number}", 0.01)
    workers = [start("--drain", "--threads", "3") for _ in range(2)]
    for worker in workers:
        out, _ = worker.communicate(timeout=PATIENCE_SECONDS)
        assert (worker.returncode, out.splitlines()[-1]) == (0, "Stopped."), out
    lines = path.read_text().splitlines()
    assert sorted(line for line in lines if line.endswith("done")) == sorted(f"job {number} done" for number in range(60))
    assert len(lines) == 120
    assert statuses() == ["SUCCESSFUL"] * 60
    assert not Worker.objects.exists()


@pytest.mark.full
def test_job_of_a_killed_worker_is_done_by_the_next_which_finishes_it_when_it_is_stopped(start: Start, tmp_path: Path) -> None:
    path, go = tmp_path / "notes", tmp_path / "go"
    tasks.note.enqueue(str(path), "job", 0, str(go))
    first = start()
    until_begun(path, first)
    first.kill()
    first.wait()
    assert statuses() == ["RUNNING"]
    Worker.objects.update(seen_at=timezone.now() - timedelta(hours=1))
    second = start("--threads", "1", "--grace", str(round(PATIENCE_SECONDS)))
    until(lambda: Job.objects.get().exception_class_path == "WorkerLost", "a job that is known to be lost")
    Job.objects.update(run_after=timezone.now())
    until(lambda: statuses() == ["RUNNING"], "a job that is begun again")
    tasks.note.enqueue(str(path), "later", 0)
    second.send_signal(signal.SIGTERM)
    go.touch()
    assert second.wait(timeout=PATIENCE_SECONDS) == 0
    assert statuses() == ["READY", "SUCCESSFUL"]
    assert path.read_text().splitlines()[-1] == "job done"
    assert "later" not in path.read_text()


@pytest.mark.full
def test_stopped_worker_releases_a_job_that_takes_too_long(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    tasks.note.enqueue(str(path), "long", 10 * PATIENCE_SECONDS)
    worker = start("--grace", "0")
    until_begun(path, worker)
    worker.terminate()
    assert worker.wait(timeout=PATIENCE_SECONDS) == 1
    assert statuses() == ["READY"]
    assert not Worker.objects.exists()


def test_worker_thread_survives_a_job_whose_outcome_cannot_be_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Job] = []

    def do(job: Job) -> None:
        begun.append(job)
        raise RuntimeError

    worker = JobWorker(threads={})
    monkeypatch.setattr(worker, "run_and_record", do)
    queue_name = QueueThreads("default", 1, worker)
    jobs = [Job(), Job()]
    for job in jobs:
        until(lambda: queue_name.has_idle_thread, "a thread that is idle")
        queue_name.submit(job)
    until(lambda: not queue_name.running, "a thread that is idle")
    assert begun == jobs
    assert queue_name.has_idle_thread


def test_draining_worker_does_what_a_job_enqueued_that_ended_while_the_queue_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, read = JobWorker(threads={"default": 1}, scheduling=False), JobWorker._start_ready_jobs

    def run_and_record(job: Job) -> None:
        if job.args_kwargs["args"] == ["first"]:
            assert found_nothing.wait(PATIENCE_SECONDS)
            tasks.keep_quiet.enqueue("second")
        record_outcome(job, None)
        connection.close()

    def start_ready_jobs() -> int:
        started = read(worker)
        if not started:
            found_nothing.set()
            until(lambda: not worker.running, "a job that is over")
        return started

    found_nothing = threading.Event()
    monkeypatch.setattr(worker, "run_and_record", run_and_record)
    monkeypatch.setattr(worker, "_start_ready_jobs", start_ready_jobs)
    tasks.keep_quiet.enqueue("first")
    worker.run(until_idle=True)
    assert statuses() == ["SUCCESSFUL"] * 2


@pytest.mark.parametrize("words", [("--threads", "0"), ("--threads", "many"), ("--queues", "nothing")])
def test_invalid_arguments_of_the_worker_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match=r"number from 1 to 64|invalid choice"):
        call_command("worker", *words)


def test_jobs_that_are_over_are_removed_and_a_dry_run_removes_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for _ in range(3):
        tasks.note.enqueue(str(tmp_path / "notes"), "job")
    done, dead, waiting = Job.objects.all()
    old = timezone.now() - timedelta(days=365)
    Job.objects.filter(pk=done.pk).update(status="SUCCESSFUL", finished_at=old)
    Job.objects.filter(pk=dead.pk).update(status="FAILED", finished_at=old)
    call_command("purge", "jobs", "--dry-run")
    assert capsys.readouterr().out == "1 finished jobs, 1 failed jobs would be deleted.\n"
    assert Job.objects.count() == 3
    call_command("purge", "jobs")
    assert [job.pk for job in Job.objects.all()] == [waiting.pk]
