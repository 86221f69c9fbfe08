"""`manage.py worker`: do what no request waits for."""

import os
import signal
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from marketplace.jobs.policy import DEFAULT, LANES, SCHEDULE, WEBHOOKS
from marketplace.jobs.schedule import interrupted
from marketplace.jobs.worker import JobWorker

NOT_DONE = 1


class Command(BaseCommand):
    """Works until it is told to stop."""

    help = (
        "Do what no request waits for: send mails, make packages, deliver webhooks, and run the commands of the schedule. "
        "Any number may run at once, on any number of machines. SIGTERM or Ctrl-C lets what was begun be finished. "
        "Exit status: 0 all was finished, 1 something was put back for the next worker, or the database cannot be used."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare how much is done at once, and until when."""
        parser.add_argument("--threads", type=_some, default=2, help="Mails and packages done at once, and as many webhooks (2).")
        parser.add_argument("--lanes", nargs="+", choices=LANES, default=list(LANES), help="Only jobs of these kinds (all).")
        parser.add_argument("--no-schedule", action="store_true", help="Run no command by the clock: something else does.")
        parser.add_argument("--drain", "--once", action="store_true", help="Stop once nothing is ready, as a cron job does.")
        parser.add_argument("--grace", type=int, default=30, metavar="SECONDS", help="How long a stop waits for what was begun (30).")

    def handle(self, *args: Any, **options: Any) -> None:
        """Work."""
        counts = {DEFAULT: options["threads"], WEBHOOKS: options["threads"], SCHEDULE: 1}
        threads = {lane: counts[lane] for lane in options["lanes"]}
        worker = JobWorker(threads=threads, scheduling=not options["no_schedule"] and SCHEDULE in threads)

        def stop(*_: object) -> None:
            interrupted.set()
            worker.stop()

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        self.stdout.write(f"Working: {', '.join(f'{count} {lane}' for lane, count in threads.items())}.")
        self.stdout.flush()
        try:
            worker.run(until_idle=options["drain"])
        except DatabaseError as error:
            raise CommandError(f"The database cannot be used: {type(error).__name__}.", returncode=NOT_DONE) from error
        finally:
            finished = worker.finish(grace=options["grace"])
            for number, handler in before.items():
                signal.signal(number, handler)
        if finished:
            self.stdout.write("Stopped.")
            return
        self.stderr.write("Stopped in the middle of a job, which was put back.")
        self.stderr.flush()
        # Its thread goes on until the process ends, and the next worker has the job already.
        os._exit(NOT_DONE)


def _some(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 64:
        raise ArgumentTypeError("a number from 1 to 64")
    return int(text)
