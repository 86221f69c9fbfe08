"""Takes a picture of every mail with sample data, on a phone and a desktop, in light and dark.

    uv run --group dev python -m tests.screenshots.mails [--out FOLDER]

No service and no database are needed. A mail must fit the window, and axe-core must find no violation.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import django
from rich.console import Console

from .driving import SCHEMES, SIZES, browser, context, overflows, violations


def main() -> int:
    """Visit every mail in each way; return 0 when nothing is wrong."""
    options = _arguments()
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings.test")
    django.setup()
    pages, wrong, console = _pages(), 0, Console()
    with browser() as started:
        for size in SIZES:
            for scheme in SCHEMES:
                window = context(started, size, scheme)
                page = window.new_page()
                for name, html in pages.items():
                    page.set_content(html)
                    faults = [*violations(page), *(["is wider than the window"] if overflows(page) else [])]
                    for fault in faults:
                        console.print(f"{name}, {size}, {scheme}: {fault}", style="red", markup=False, highlight=False)
                    wrong += len(faults)
                    page.screenshot(path=folder / f"{name.replace('/', '-')}-{size}-{scheme}.png", full_page=True)
                window.close()
    console.print(f"{len(pages)} mails in {folder}, {wrong} faults")
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.screenshots.mails", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", default=str(Path(tempfile.gettempdir()) / "marketplace-mails"), help="where the pictures go")
    return parser.parse_args()


def _pages() -> dict[str, str]:
    # Templates and the adapter are there once Django is set up.
    from allauth.account.adapter import get_adapter  # noqa: PLC0415 - see above

    from tests.mail_samples import ACCOUNT_TEMPLATES, TEMPLATES, account_sample, sample_of  # noqa: PLC0415 - see above

    mails = {name: sample_of(name).html for name in TEMPLATES}
    return mails | {f"account/{name}": account_sample(name, get_adapter()).html for name in ACCOUNT_TEMPLATES}


if __name__ == "__main__":
    sys.exit(main())
