"""Scheduled commands: command, interval, and offset from the interval's beginning (midnight UTC for daily ones)."""

from datetime import timedelta

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


def _at(hours: int, minutes: int = 0) -> timedelta:
    return timedelta(hours=hours, minutes=minutes)


SCHEDULE: tuple[tuple[str, timedelta, timedelta], ...] = (
    # A sale has its invoice within a minute.
    ("issue_invoices", timedelta(seconds=30), _at(0)),
    # The maximum age of popularity counts.
    ("count_purchases", timedelta(minutes=2), _at(0)),
    ("mark_popular_listings", _HOUR, _at(0, 5)),
    ("digest_ledger", _HOUR, _at(0, 15)),
    ("escalate_refund_requests", _HOUR, _at(0, 20)),
    ("build_packages", _HOUR, _at(0, 25)),
    ("build_packages --prune 30", _DAY, _at(1, 10)),
    ("purge", _DAY, _at(1, 20)),
    ("mail_dormant_keys", _DAY, _at(2)),
    ("reconcile", _DAY, _at(2, 15)),
    ("sweep_objects --delete --hours 72", _DAY, _at(2, 45)),
    ("verify_checksums", _DAY, _at(3)),
)
