"""`manage.py worker`: run background jobs."""

import os
import signal
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, DatabaseError

from marketplace.jobs.schedule import interrupted
from marketplace.jobs.worker import JobWorker

from ...policy import DEFAULT, QUEUES, SCHEDULE_QUEUE, WEBHOOKS

NOT_DONE = 1


class Command(BaseCommand):
    help = (
        "Run background jobs: send mails, build packages, deliver webhooks, make previews, and run the scheduled commands. Run any number of workers, "
        "on any number of machines. On SIGTERM or Ctrl-C it waits for running jobs, but terminates scheduled commands, which the "
        "next worker runs again. Exit status: 0 all jobs were finished, apart from terminated commands; 1 a job was returned to the queue for the next worker, or the database cannot be used."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--threads",
            type=_thread_count,
            default=2,
            help="How many jobs, such as mails and packages, run in parallel, and how many deliveries to webhooks (default 2). Of previews and scheduled commands, "
            "one runs at a time.",
        )
        parser.add_argument(
            "--queues",
            nargs="+",
            choices=QUEUES,
            default=list(QUEUES),
            help="Only process jobs in these queues (default: all). Without schedule, scheduled commands are not enqueued either.",
        )
        parser.add_argument(
            "--no-schedule",
            action="store_true",
            help="Don't enqueue scheduled commands when they are due; those in the queue are still run.",
        )
        parser.add_argument("--drain", "--once", action="store_true", help="Exit when the queue is empty, to run from cron.")
        parser.add_argument(
            "--grace", type=int, default=30, metavar="SECONDS", help="How long to wait for running jobs when stopping (default 30)."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        threads = {queue_name: options["threads"] if queue_name in {DEFAULT, WEBHOOKS} else 1 for queue_name in options["queues"]}
        worker = JobWorker(threads=threads, scheduling=not options["no_schedule"] and SCHEDULE_QUEUE in threads)

        def stop(*_: object) -> None:
            interrupted.set()
            worker.stop()

        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        self.stdout.write(f"Working: {', '.join(f'{count} {queue_name}' for queue_name, count in threads.items())}.")
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
        self.stderr.write("Stopped during a job; it was returned to the queue.")
        self.stderr.flush()
        # The job's thread would keep the process alive, while the next worker already has the job.
        os._exit(NOT_DONE)


def _thread_count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 64:
        raise ArgumentTypeError("a number from 1 to 64")
    return int(text)
