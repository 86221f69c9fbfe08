"""Takes a screenshot of every page of the demo, and reports its faults.

    uv run --group dev python -m tests.screenshots [--out FOLDER] [--only NAME …] [--sizes SIZE …] [--schemes SCHEME …]

A private service with the demo content is made for it and thrown away. Each page is opened on a phone and on a desktop, in light and
in dark. It must fit the window, raise no error, ask no other host for anything, weigh at most 150 kB without images and sounds, and
axe-core must find no violation. The exit status is 0 when nothing is wrong.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page
from rich.console import Console

from tests import command_line

from .driving import MOST_BYTES, SCHEMES, SIZES, Scheme, browser, context, overflows, violations, watched
from .pages import BOUGHT, NOT_FOUND, PAGES, Way
from .service import service

People = dict[str, dict[str, str]]


def main() -> int:
    """Visit every page in each way; return 0 when nothing is wrong."""
    options = _arguments()
    console, folder = Console(), Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    pages = {who: {name: way for name, way in named.items() if not options.only or name in options.only} for who, named in PAGES.items()}
    taken = wrong = 0
    with tempfile.TemporaryDirectory(prefix="marketplace-pages-") as data, service(Path(data), console) as base_url, browser() as started:
        people = json.loads((Path(data) / "demo.json").read_text("utf-8"))
        _buy_something(started, base_url, people["buyer"])
        for size in options.sizes:
            for scheme in options.schemes:
                for name, faults in _walk(started, base_url, people, pages, size, scheme, folder):
                    taken, wrong = taken + 1, wrong + len(faults)
                    for fault in faults:
                        console.print(f"{name}: {fault}", style="red", markup=False, highlight=False)
    console.print(f"{taken} pictures in {folder}, {wrong} faults")
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = command_line("tests.screenshots", __doc__)
    parser.add_argument("--out", default=str(Path(tempfile.gettempdir()) / "marketplace-screenshots"), help="where the pictures go")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="visit only the pages of these names")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="only these")
    parser.add_argument("--schemes", nargs="+", choices=SCHEMES, default=list(SCHEMES), help="only these")
    return parser.parse_args()


def _sign_in(page: Page, base_url: str, person: dict[str, str]) -> None:
    page.goto(f"{base_url}/account/login/")
    page.get_by_label("Email").fill(person["email"])
    page.get_by_label("Password").fill(person["password"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{base_url}/dashboard")


def _buy_something(started: Browser, base_url: str, buyer: dict[str, str]) -> None:
    """Put something into the buyer's library, as the buyer would."""
    window = context(started, "desktop", "light")
    page = window.new_page()
    _sign_in(page, base_url, buyer)
    page.goto(f"{base_url}/assets/{BOUGHT}")
    page.get_by_role("button", name="Continue to buy").click()
    page.get_by_role("button", name="Pay").click()
    page.get_by_text("is yours").wait_for()
    window.close()


def _walk(
    started: Browser, base_url: str, people: People, pages: dict[str, dict[str, Way]], size: str, scheme: Scheme, folder: Path
) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each picture with what is wrong on its page."""
    for who, named in pages.items():
        if not named:
            continue
        window = context(started, size, scheme)
        if who in people:
            _sign_in(window.new_page(), base_url, people[who])
        for name, way in named.items():
            page = window.new_page()
            faults = list(_visit(page, base_url, way, people.get(who, {})))
            # What is shown when one scrolls to it must be there.
            page.evaluate("document.querySelectorAll('img[loading=lazy]').forEach((image) => { image.loading = 'eager'; })")
            page.evaluate("Promise.all([...document.images].map((image) => image.decode().catch(() => null)))")
            page.screenshot(path=folder / f"{name}-{size}-{scheme}.png", full_page=True)
            page.close()
            yield f"{name}, {size}, {scheme}", faults
        window.close()


def _visit(page: Page, base_url: str, way: Way, person: dict[str, str]) -> Iterator[str]:
    """Open a page and yield what is wrong with it."""
    visit = None
    if isinstance(way, tuple):
        before, selector, further = (*way, "")[:3]
        page.goto(base_url + before)
        link = page.locator(selector).first
        if href := link.get_attribute("href"):
            page.goto(base_url + href + further)
        else:
            link.click()
    else:
        visit = watched(page, base_url)
        page.goto(base_url + way)
    if page.get_by_role("heading", name="Confirm it's you").count():
        page.get_by_label("Password").fill(person["password"])
        page.get_by_role("button", name="Continue").click()
    page.wait_for_load_state("networkidle")
    if visit is not None:
        yield from (f"asked {address}" for address in visit.elsewhere)
        yield from (fault for fault in visit.faults if not (way == NOT_FOUND and "404" in fault))
        if visit.weight > MOST_BYTES:
            yield f"weighs {visit.weight / 1000:.0f} kB"
    if overflows(page):
        yield "is wider than the window"
    yield from violations(page)


if __name__ == "__main__":
    sys.exit(main())
