#!/usr/bin/env python3
"""Django's command line for the marketplace: `manage.py help` lists every command."""

import gc
import os
import sys

# SQLSTATE codes of PostgreSQL: undefined table, column and schema; insufficient privilege.
UNDEFINED, NOT_ALLOWED = {"42P01", "42703", "3F000"}, {"42501"}


def main() -> None:
    """Run one management command under the embedded settings unless others are named."""
    # `migrate` makes thousands of classes: with Python's default threshold, garbage collection takes a third of its time.
    gc.set_threshold(20_000)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings.embedded")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import InterfaceError, OperationalError, ProgrammingError
    except ImportError:
        sys.exit("Django is not installed. Run the command as `uv run manage.py …` (README: Quick start).")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Configuration: {error}")
    except (InterfaceError, OperationalError, ProgrammingError) as error:
        reason = "" if "--traceback" in sys.argv else advice_for(error, answered=isinstance(error, ProgrammingError))
        if not reason:
            raise
        sys.exit(f"{reason}: {' '.join(str(error).split())}")


def advice_for(error: Exception, *, answered: bool) -> str:
    """Return what an operator can do about a database error, an empty string if it is a fault of the code."""
    state = getattr(error.__cause__, "sqlstate", None)
    if state in UNDEFINED or str(error).startswith("no such "):
        return "The database is empty, or of another release; see where DATABASE_URL leads, and run migrate"
    if state in NOT_ALLOWED:
        return "The database's role may not do that; name its owner in DATABASE_URL"
    return "" if answered else "The database does not answer"


if __name__ == "__main__":
    main()
