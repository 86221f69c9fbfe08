"""Lighthouse on the entry pages: performance, accessibility, best practices, search engines.

    uv run --group dev python -m tests.screenshots.lighthouse [--runs 3] [--out FOLDER]

Each page is loaded as a phone on a slow mobile network and as a desktop, several times; each score is the median. Needs Chromium, and Node
18.16 or later with npm, which fetches Lighthouse once into the cache folder. The service has the demo content and the static files of
production: hashed names, compressed, kept by browsers. What holds a score back is named. The table is kept in benchmarks/lighthouse.md,
Lighthouse's own reports in the folder. The exit status is 0 when every score is 95 or more.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import track

from benchmarks import MISSED
from tests import ROOT, command_line
from tests.servers.npm import npm

from .driving import program
from .pages import FONT, SOUND, UNBOUGHT
from .service import COLLECTED, service

# The last that runs on Node 20.
VERSION = "12.8.2"
RESULT = ROOT / "benchmarks" / "lighthouse.md"
PAGES = {
    "start page": "/",
    "storefront": "/browse",
    "a font with its tester": f"/assets/{FONT}",
    "a sound": f"/assets/{SOUND}",
    "a motion template": "/assets/checkout-moments",
    "a preset pack": "/assets/amber-hour-looks",
    "a skill": f"/assets/{UNBOUGHT}",
    "documentation": "/docs/quick-start",
    "sign up": "/account/signup/",
}
DEVICES = {"phone": (), "desktop": ("--preset=desktop",)}
CATEGORIES = {"performance": "performance", "accessibility": "accessibility", "best-practices": "best practices", "seo": "search engines"}
# What the performance is made of, in milliseconds but for the last.
FIGURES = {
    "first-contentful-paint": "first paint",
    "largest-contentful-paint": "largest paint",
    "total-blocking-time": "blocked",
    "cumulative-layout-shift": "layout shift",
}
LEAST = 95
FLAGS = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage"
SECONDS = 180
TRIES = 4


@dataclass(frozen=True)
class Measure:
    """What Lighthouse said of a page on a device, over all runs."""

    page: str
    device: str
    scores: dict[str, int]
    figures: dict[str, float]
    kilobytes: int
    held_back: set[str]


def main() -> int:
    """Measure each page; return 0 when every score is high enough, else `MISSED`."""
    options = _arguments()
    console = Console(stderr=True)
    lighthouse = _installed(console)
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    measures = []
    with tempfile.TemporaryDirectory(prefix="marketplace-lighthouse-") as data, service(Path(data), console, COLLECTED) as base_url:
        visits = [(page, device) for page in options.only or PAGES for device in DEVICES]
        for page, device in track(visits, description="Pages", console=console):
            address = base_url + PAGES[page]
            # What is built at the first request is built.
            urllib.request.urlopen(address, timeout=SECONDS).close()  # noqa: S310 - our own service
            reports = [_report(lighthouse, address, device, folder / f"{page}-{device}") for _ in range(options.runs)]
            measures.append(_measure(page, device, reports))
    text = _table(measures, options.runs)
    console.print(Markdown(text))
    for measure in measures:
        for reason in sorted(measure.held_back):
            console.print(f"{measure.page}, {measure.device}: {reason}", markup=False, highlight=False)
    if not options.only:
        RESULT.write_text(text, "utf-8")
    return MISSED if min(min(measure.scores.values()) for measure in measures) < LEAST else 0


def _arguments() -> argparse.Namespace:
    parser = command_line("tests.screenshots.lighthouse", __doc__)
    parser.add_argument("--runs", type=int, default=3, help="of each page on each device (3)")
    parser.add_argument("--only", nargs="*", metavar="PAGE", choices=PAGES, help="measure only these, and keep no table")
    parser.add_argument("--out", default=str(Path(tempfile.gettempdir()) / "marketplace-lighthouse"), help="where the reports go")
    return parser.parse_args()


def _installed(console: Console) -> Path:
    """Return Lighthouse's program, fetched unless it is there."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "creative-asset-marketplace" / f"lighthouse-{VERSION}"
    script = folder / "node_modules" / "lighthouse" / "cli" / "index.js"
    if not script.exists():
        console.print(f"Fetching Lighthouse {VERSION} …")
        npm(folder, "install", f"lighthouse@{VERSION}")
    return script


def _report(lighthouse: Path, address: str, device: str, path: Path) -> dict[str, Any]:
    """Return Lighthouse's report; where the browser's trace came out incomplete, as it does now and then, that of another load."""
    command = ["node", str(lighthouse), address, "--quiet", f"--chrome-flags={FLAGS}", *DEVICES[device]]
    command += ["--output=json", "--output=html", f"--output-path={path}"]
    environment = os.environ | {"CHROME_PATH": program(whole=True), "CI": "true"}
    for _ in range(TRIES):
        done = subprocess.run(
            command, env=environment, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS
        )
        if done.returncode == 0:
            report: dict[str, Any] = json.loads(path.with_name(f"{path.name}.report.json").read_text("utf-8"))
            return report
    raise SystemExit(f"Lighthouse could not measure {address}: {done.stderr.strip()}")


def _measure(page: str, device: str, reports: list[dict[str, Any]]) -> Measure:
    # What search engines are told to leave alone has no score of theirs.
    names = [name for name in CATEGORIES if name != "seo" or reports[0]["audits"]["is-crawlable"]["score"]]
    scores = {name: round(100 * statistics.median(report["categories"][name]["score"] or 0 for report in reports)) for name in names}
    figures = {name: statistics.median(report["audits"][name]["numericValue"] for report in reports) for name in FIGURES}
    kilobytes = round(statistics.median(report["audits"]["total-byte-weight"]["numericValue"] for report in reports) / 1000)
    return Measure(page, device, scores, figures, kilobytes, {reason for report in reports for reason in _held_back(report)})


def _held_back(report: dict[str, Any]) -> list[str]:
    """Return the audits that were not passed, of those that a score is made of or that name something to save."""
    return [
        f"{audit['title']} {audit.get('displayValue', '')}".rstrip()
        for audit in report["audits"].values()
        if audit["score"] is not None and audit["score"] < 1 and audit["id"] not in FIGURES
    ]


def _table(measures: list[Measure], runs: int) -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    machine = (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores (load average {load}), {memory:.0f} GiB, Python {platform.python_version()}"
    )
    about = (
        f"{machine}, Lighthouse {VERSION}. Medians of {runs} loads with an empty browser cache; the phone on slow 4G and the desktop are those "
        "that Lighthouse simulates. The service has the demo content and is one process without a proxy in front. kB are all that came, "
        "pictures and fonts included. Search engines are told to leave the pages of accounts alone. Written by `python -m tests.screenshots.lighthouse`."
    )
    names = [*CATEGORIES.values(), *FIGURES.values(), "kB"]
    head = f"| page | device | {' | '.join(names)} |\n|---|---|{'--:|' * len(names)}"
    return "\n".join(["# Lighthouse", "", "Settings: SQLite, cache in memory.", "", about, "", head, *map(_row, measures), ""])


def _row(measure: Measure) -> str:
    figures = [f"{value:.3f}" if name == "cumulative-layout-shift" else f"{value:,.0f} ms" for name, value in measure.figures.items()]
    cells = [
        measure.page,
        measure.device,
        *(str(measure.scores.get(name, "none")) for name in CATEGORIES),
        *figures,
        str(measure.kilobytes),
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
