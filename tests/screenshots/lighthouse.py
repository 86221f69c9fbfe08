"""Lighthouse on the pages that people come to first: performance, accessibility, best practices, search engines.

    uv run --group dev python -m tests.screenshots.lighthouse

Needs npx (Node 18 or later), which fetches Lighthouse, and Chromium. The service is the demo's: static files are not compressed there, as
they are in production. On a busy machine the performance is that of the machine. The exit status is 0 when every score is 95 or more.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .driving import program
from .service import service
from .stops import FONT

LIGHTHOUSE = "lighthouse@12.8.2"
PATHS = ("/", "/browse", f"/assets/{FONT}")
LEAST = 95
FLAGS = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage"


def main() -> int:
    """Measure each page; return 0 when every score is high enough."""
    console = Console()
    npx = shutil.which("npx")
    if npx is None:
        console.print("There is no npx: install Node 18 or later.")
        return 1
    table, low = Table("Page"), False
    with tempfile.TemporaryDirectory(prefix="marketplace-lighthouse-") as data, service(Path(data), console) as base_url:
        for path in PATHS:
            scores = _scores(npx, base_url + path, Path(data))
            if not table.rows:
                for name in scores:
                    table.add_column(name)
            table.add_row(path, *map(str, scores.values()))
            low = low or min(scores.values()) < LEAST
    console.print(table)
    return 1 if low else 0


def _scores(npx: str, address: str, folder: Path) -> dict[str, int]:
    report = folder / "lighthouse.json"
    command = [npx, "--yes", LIGHTHOUSE, address, "--quiet", f"--chrome-flags={FLAGS}", "--output=json", f"--output-path={report}"]
    subprocess.run(command, env=os.environ | {"CHROME_PATH": program()}, check=True, stdin=subprocess.DEVNULL)
    categories = json.loads(report.read_text("utf-8"))["categories"]
    return {name: round(100 * (category["score"] or 0)) for name, category in categories.items()}


if __name__ == "__main__":
    sys.exit(main())
