"""The worker: polls for jobs, runs them in threads, sends a heartbeat, and enqueues scheduled commands."""

import contextlib
import logging
import os
import queue
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.db.models.functions import Now

from marketplace.core.database import remove_statement_limit
from marketplace.core.ids import new_id

from .models import Job, Worker
from .queue import claim_job, record_outcome, recover_lost_jobs, release_job, run_job, waiting_queues
from .schedule import enqueue_due_commands

POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0
# Delay before the next attempt when the database does not answer.
DATABASE_RETRY_SECONDS = 2.0
# Lost workers stay listed for this long.
FORGET_AFTER = timedelta(days=1)

logger = logging.getLogger(__name__)


class QueueThreads:
    """The daemon threads of one queue; the worker decides how long to wait for them."""

    def __init__(self, name: str, threads: int, worker: "JobWorker") -> None:
        self.name = name
        self.running: dict[str, Job] = {}
        self._free = threads
        self._lock = threading.Lock()
        self._pending: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._worker = worker
        for number in range(threads):
            threading.Thread(target=self._work, name=f"jobs-{name}-{number}", daemon=True).start()

    @property
    def has_idle_thread(self) -> bool:
        return self._free > 0

    def submit(self, job: Job) -> None:
        """Hand a claimed job to an idle thread."""
        with self._lock:
            self._free -= 1
            self.running[str(job.pk)] = job
        self._pending.put(job)

    def _work(self) -> None:
        remove_statement_limit()
        while True:
            job = self._pending.get()
            try:
                self._worker.run_and_record(job)
            except Exception:
                # If the thread ended, its queue would stall.
                logger.exception("The outcome of job %s could not be recorded", job.pk)
            finally:
                with self._lock:
                    self._free += 1
                    self.running.pop(str(job.pk), None)
                self._worker.wake.set()


class JobWorker:
    """One worker of a process, with a number of threads for each queue."""

    def __init__(self, *, threads: Mapping[str, int], scheduling: bool = True) -> None:
        self.id = new_id().hex
        self.wake = threading.Event()
        self.stopping = threading.Event()
        self._threads = dict(threads)
        self._scheduling = scheduling
        self._queues: list[QueueThreads] = []
        self._next_heartbeat = 0.0

    def run(self, *, until_idle: bool = False) -> None:
        """Run jobs until `stop` is called; with `until_idle`, until no job is ready.

        Waits for a database that does not answer, unless `until_idle` is set.
        """
        remove_statement_limit()
        self._queues = [QueueThreads(name, count, self) for name, count in self._threads.items()]
        while not self.stopping.is_set():
            try:
                close_old_connections()
                self._heartbeat()
                # Read before jobs are started: one that ends meanwhile may have enqueued another.
                idle = not self.running
                started = self._start_ready_jobs()
            except (DatabaseError, InterfaceError) as error:
                if until_idle:
                    raise
                logger.warning("The worker waits for the database: %s", type(error).__name__)
                connection.close()
                self.stopping.wait(DATABASE_RETRY_SECONDS)
                continue
            if until_idle and idle and not started:
                return
            if not started:
                self.wake.wait(POLL_SECONDS)
                self.wake.clear()

    def stop(self) -> None:
        """Claim no more jobs."""
        self.stopping.set()
        self.wake.set()

    def finish(self, *, grace: float) -> bool:
        """Wait for running jobs, return unfinished ones to the queue, and delete the worker's row.

        Returns:
            Whether all jobs were finished.
        """
        until = time.monotonic() + grace
        while self.running and time.monotonic() < until:
            time.sleep(0.05)
        left = self.running
        with contextlib.suppress(DatabaseError, InterfaceError):
            for job in left:
                release_job(job)
            Worker.objects.filter(pk=self.id).delete()
        connection.close()
        return not left

    @property
    def running(self) -> Sequence[Job]:
        return [job for threads in self._queues for job in list(threads.running.values())]

    def run_and_record(self, job: Job) -> None:
        """Run a job in the calling thread, and record its outcome as soon as the database answers."""
        try:
            close_old_connections()
            error = run_job(job)
            while not self._try_to_record(job, error) and not self.stopping.wait(DATABASE_RETRY_SECONDS):
                connection.close()
        finally:
            close_old_connections()

    def _try_to_record(self, job: Job, error: BaseException | None) -> bool:
        try:
            record_outcome(job, error)
        except (DatabaseError, InterfaceError):
            return False
        return True

    def _start_ready_jobs(self) -> int:
        """Hand jobs to idle threads; return their number."""
        idle = {threads.name: threads for threads in self._queues if threads.has_idle_thread}
        if not idle:
            return 0
        started = 0
        for name in waiting_queues(list(idle)):
            while not self.stopping.is_set() and idle[name].has_idle_thread and (job := claim_job(queue_names=[name], worker_id=self.id)):
                idle[name].submit(job)
                started += 1
        return started

    def _heartbeat(self) -> None:
        """Report that the worker is alive, recover lost jobs and enqueue due commands, once per `HEARTBEAT_SECONDS`."""
        if time.monotonic() < self._next_heartbeat:
            return
        who = {"host": socket.gethostname()[:200], "pid": os.getpid()}
        Worker.objects.update_or_create(pk=self.id, defaults={"seen_at": Now()}, create_defaults={"seen_at": Now(), **who})
        Worker.objects.filter(seen_at__lt=Now() - FORGET_AFTER).delete()
        recover_lost_jobs()
        if self._scheduling:
            enqueue_due_commands()
        self._next_heartbeat = time.monotonic() + HEARTBEAT_SECONDS
