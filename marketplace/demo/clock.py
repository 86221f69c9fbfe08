"""The clock with which the demo's history is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from unittest import mock

from django.utils import timezone


@contextmanager
def clock_at(moment: datetime) -> Iterator[None]:
    """Let `timezone.now` return `moment` in this process, which does nothing else meanwhile."""
    with mock.patch.object(timezone, "now", return_value=moment):
        yield
