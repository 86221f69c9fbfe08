"""The progress bar of management commands."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())


def progress_bar(*columns: ProgressColumn) -> Progress:
    """Return a progress bar on standard error that disappears when it is done: standard output is for results."""
    return Progress(*(columns or _COLUMNS), console=Console(stderr=True), transient=True)
