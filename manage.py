#!/usr/bin/env python3
"""Django's command line for the marketplace: `manage.py help` lists every command."""

import os
import sys


def main() -> None:
    """Run one management command under the embedded settings unless others are named."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings.embedded")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import InterfaceError, OperationalError
    except ImportError:
        sys.exit("Django is not installed. Run the command as `uv run manage.py …` (README: Quick start).")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Configuration: {error}")
    except (InterfaceError, OperationalError) as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"The database does not answer: {' '.join(str(error).split())}")


if __name__ == "__main__":
    main()
