"""`manage.py purge_tokens`: remove codes and tokens that are over."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.progress import Progress

from developers.services.purging import KEPT, ended_access_tokens, ended_codes, ended_page_tokens, ended_refresh_tokens, remove_in_steps


class Command(BaseCommand):
    """Removes codes and tokens."""

    help = (
        f"Remove authorization codes and the tokens of apps that ended more than {KEPT.days} days ago. What recognizes the "
        "second use of a code or refresh token stays while its connection lives, and so do personal tokens. Those of our own pages go as soon as they are over. It may run twice at "
        "once, and be stopped at any time. Run it daily. With --dry-run the rows are counted and none is removed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Offer a rehearsal."""
        parser.add_argument("--dry-run", action="store_true", help="count the rows, remove none")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Remove, or count."""
        kinds = {
            "codes": ended_codes(),
            "refresh tokens": ended_refresh_tokens(),
            "access tokens": ended_access_tokens(),
            "page tokens": ended_page_tokens(),
        }
        if options["dry_run"]:
            counts = ", ".join(f"{rows.count()} {name}" for name, rows in kinds.items())
            self.stdout.write(f"{counts} would be removed.")
            return
        removed = dict.fromkeys(kinds, 0)
        console = Console(file=self.stderr)  # type: ignore[arg-type]  # OutputWrapper writes like a file
        with Progress(console=console, transient=True) as progress:
            for name, rows in kinds.items():
                task = progress.add_task(name.capitalize(), total=rows.count())
                for count in remove_in_steps(rows=rows):
                    removed[name] += count
                    progress.advance(task, count)
        self.stdout.write(", ".join(f"{count} {name}" for name, count in removed.items()) + " removed.")
