"""Checks the whole installation and says how to fix what is wrong."""

from collections.abc import Callable, Iterator
from pathlib import Path

from . import database, node, services
from .findings import CheckResults, Finding, Status

__all__ = ["Finding", "Status", "examine"]


def examine(*, backup_folder: Path | None = None) -> Iterator[Finding]:
    """Yield the findings of all checks; a check that raises is a finding too. Without a folder, backups are not checked."""
    parts: dict[str, Callable[[], CheckResults]] = {
        "settings": node.check_settings,
        "database": database.check_database,
        "clock": database.check_clock,
        "cache": services.check_cache,
        "objects": services.check_objects,
        "mail": services.check_mail,
        "disk": node.check_disk,
        "certificates": node.check_certificates,
        "static files": node.check_static_files,
        "backup": lambda: node.check_backup(backup_folder),
        "migrations": database.check_migrations,
        "constraints": database.check_constraints,
        "search": database.check_search,
        "worker": services.check_worker,
        "site pages": services.check_site_pages,
    }
    for name, part in parts.items():
        try:
            for status, message, remedy in part():
                yield Finding(name, status, message, remedy)
        except Exception as error:  # noqa: BLE001 - the other checks run in any case
            status, reason = Status.FAIL, error.__cause__ or error
            message = f"{type(reason).__name__}: {' '.join(str(reason).split())}"
            yield Finding(name, status, message, "Fix what the message says, then run this again.")
        # The checks after it read tables.
        if name == "migrations" and status == Status.FAIL:
            return
