"""The worker in a thread of the server's process: with the embedded settings one process is the whole service."""

import atexit
import threading
from multiprocessing.util import Finalize

from django.conf import settings

from .policy import QUEUES
from .schedule import interrupted
from .worker import JobWorker

GRACE_SECONDS = 3


def start_worker_thread() -> None:
    """Start a worker in this process if `WORKER_IN_SERVER` is set. It ends with the process."""
    if not settings.WORKER_IN_SERVER:
        return
    worker = JobWorker(threads=dict.fromkeys(QUEUES, 1))
    thread = threading.Thread(target=worker.run, name="worker", daemon=True)

    def end() -> None:
        if worker.stopping.is_set():
            return
        interrupted.set()
        worker.stop()
        worker.finish(grace=GRACE_SECONDS)

    # A process forked by a server skips atexit handlers, but runs multiprocessing finalizers.
    atexit.register(end)
    Finalize(None, end, exitpriority=20)
    thread.start()
