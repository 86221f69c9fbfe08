"""The worker: polls for jobs, runs them in threads, sends a heartbeat, and enqueues scheduled commands."""

import contextlib
import logging
import os
import queue
import socket
import threading
import time
from collections.abc import Mapping, Sequence

from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.db.models.functions import Now

from marketplace.core.database import remove_statement_limit
from marketplace.core.ids import new_id

from .models import Job, Worker
from .queue import LOST_AFTER, claim_job, recover_lost_jobs, release_job, run_job, settle_job, waiting_queues
from .schedule import enqueue_due

POLL_SECONDS = 1.0
BEAT_SECONDS = 15.0
# How long to wait before the database is asked again that did not answer.
PATIENCE_SECONDS = 2.0
# A silent worker may still be looked at for a day.
FORGET_AFTER = LOST_AFTER * 60 * 24

logger = logging.getLogger(__name__)


class QueueThreads:
    """The threads of one queue. They are daemons: the worker decides how long it waits for them."""

    def __init__(self, name: str, threads: int, worker: "JobWorker") -> None:
        self.name = name
        self.held: dict[str, Job] = {}
        self._free = threads
        self._lock = threading.Lock()
        self._given: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._worker = worker
        for number in range(threads):
            threading.Thread(target=self._work, name=f"jobs-{name}-{number}", daemon=True).start()

    @property
    def has_room(self) -> bool:
        """Tell whether a thread is idle."""
        return self._free > 0

    def give(self, job: Job) -> None:
        """Hand a claimed job to an idle thread."""
        with self._lock:
            self._free -= 1
            self.held[str(job.pk)] = job
        self._given.put(job)

    def _work(self) -> None:
        remove_statement_limit()
        while True:
            job = self._given.get()
            try:
                self._worker.do(job)
            except Exception:
                # A thread that ended would hold up its queue for good.
                logger.exception("Job %s could not be settled", job.pk)
            finally:
                with self._lock:
                    self._free += 1
                    self.held.pop(str(job.pk), None)
                self._worker.wake.set()


class JobWorker:
    """One worker of a process.

    Args:
        threads: By queue, how many jobs it does at once.
        scheduling: Whether it enqueues what is due on the schedule.
    """

    def __init__(self, *, threads: Mapping[str, int], scheduling: bool = True) -> None:
        self.id = new_id().hex
        self.wake = threading.Event()
        self.stopping = threading.Event()
        self._threads = dict(threads)
        self._scheduling = scheduling
        self._queues: list[QueueThreads] = []
        self._next_beat = 0.0

    def run(self, *, until_idle: bool = False) -> None:
        """Work until `stop` is called, or until nothing is ready.

        A database that does not answer is waited for; with `until_idle` it ends the work.
        """
        remove_statement_limit()
        self._queues = [QueueThreads(name, count, self) for name, count in self._threads.items()]
        while not self.stopping.is_set():
            try:
                close_old_connections()
                self._beat()
                begun = self._begin_ready()
            except (DatabaseError, InterfaceError) as error:
                if until_idle:
                    raise
                logger.warning("The worker waits for the database: %s", type(error).__name__)
                connection.close()
                self.stopping.wait(PATIENCE_SECONDS)
                continue
            if until_idle and not begun and not self.held:
                return
            if not begun:
                self.wake.wait(POLL_SECONDS)
                self.wake.clear()

    def stop(self) -> None:
        """Take no further job."""
        self.stopping.set()
        self.wake.set()

    def finish(self, *, grace: float) -> bool:
        """Wait for what is being done, put back what takes longer, and sign off.

        Returns:
            Whether everything was finished.
        """
        until = time.monotonic() + grace
        while self.held and time.monotonic() < until:
            time.sleep(0.05)
        left = self.held
        with contextlib.suppress(DatabaseError, InterfaceError):
            for job in left:
                release_job(job)
            Worker.objects.filter(pk=self.id).delete()
        connection.close()
        return not left

    @property
    def held(self) -> Sequence[Job]:
        """What is being done."""
        return [job for threads in self._queues for job in list(threads.held.values())]

    def do(self, job: Job) -> None:
        """Do a job in the calling thread, and write what came of it as soon as the database takes it."""
        try:
            close_old_connections()
            error = run_job(job)
            while not self._settled(job, error) and not self.stopping.wait(PATIENCE_SECONDS):
                connection.close()
        finally:
            close_old_connections()

    def _settled(self, job: Job, error: BaseException | None) -> bool:
        try:
            settle_job(job, error)
        except (DatabaseError, InterfaceError):
            return False
        return True

    def _begin_ready(self) -> int:
        """Hand jobs to the threads that are idle; return how many."""
        roomy = {threads.name: threads for threads in self._queues if threads.has_room}
        if not roomy:
            return 0
        begun = 0
        for name in waiting_queues(list(roomy)):
            while not self.stopping.is_set() and roomy[name].has_room and (job := claim_job(queue_names=[name], worker_id=self.id)):
                roomy[name].give(job)
                begun += 1
        return begun

    def _beat(self) -> None:
        """Say that we live, look after the jobs of those that do not, and enqueue what is due; now and then."""
        if time.monotonic() < self._next_beat:
            return
        who = {"host": socket.gethostname()[:200], "pid": os.getpid()}
        Worker.objects.update_or_create(pk=self.id, defaults={"seen_at": Now()}, create_defaults={"seen_at": Now(), **who})
        Worker.objects.filter(seen_at__lt=Now() - FORGET_AFTER).delete()
        recover_lost_jobs()
        if self._scheduling:
            enqueue_due()
        self._next_beat = time.monotonic() + BEAT_SECONDS
