"""Takes a picture of every page, and says what is wrong with it.

    uv run --group dev python -m tests.screenshots [--out FOLDER] [--only NAME …] [--sizes SIZE …] [--schemes SCHEME …] [--without-axe]

A private service with the demo content is made for it and thrown away. Each page is opened on a phone and on a desktop, in light and
in dark. It must fit the window, raise no error, ask no other host for anything, weigh at most 150 kB without images and sounds, and
axe-core must find no violation. The pictures and an index.html are in the folder afterwards; the exit status is 0 when nothing is wrong.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page
from rich.console import Console

from tests.checks import ROOT

from .driving import MOST_BYTES, SCHEMES, SIZES, Scheme, browser, context, overflows, violations, watched
from .service import scenes, service
from .stop import Stop
from .stops import AGAIN, public_stops, signed_in_stops


def main() -> int:
    """Visit every page in each way; return 0 when nothing is wrong."""
    options = _arguments()
    console = Console(stderr=True)
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    wrong: list[str] = []
    taken: list[str] = []
    with tempfile.TemporaryDirectory(prefix="marketplace-pages-") as data, service(Path(data), console) as base_url, browser() as started:
        people = json.loads((Path(data) / "demo.json").read_text("utf-8")) | scenes(Path(data))
        stops = [stop for stop in [*public_stops(_doc_names()), *signed_in_stops()] if not options.only or stop.name in options.only]
        _buy_something(started, base_url, people)
        for size in options.sizes:
            for scheme in options.schemes:
                console.print(f"{size}, {scheme}: {len(stops)} pages")
                for name, faults in _walk(started, base_url, people, stops, size, scheme, folder, axe=not options.without_axe):
                    taken.append(name)
                    wrong += [f"{name}: {fault}" for fault in faults]
                    for fault in faults:
                        console.print(f"{name}: {fault}", style="red", markup=False, highlight=False)
    _write_index(folder, taken)
    console.print(f"{len(taken)} pictures in {folder}, {len(wrong)} faults")
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.screenshots", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", default=str(Path(tempfile.gettempdir()) / "marketplace-screenshots"), help="where the pictures go")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="visit only the pages of these names")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="only these")
    parser.add_argument("--schemes", nargs="+", choices=SCHEMES, default=list(SCHEMES), help="only these")
    parser.add_argument("--without-axe", action="store_true", help="do not look for violations")
    return parser.parse_args()


def _doc_names() -> list[str]:
    return sorted(path.stem for path in (ROOT / "marketplace" / "web" / "docs").glob("*.md"))


def _sign_in(page: Page, base_url: str, person: dict[str, str]) -> None:
    page.goto(f"{base_url}/account/login/")
    page.get_by_label("Email").fill(person["email"])
    page.get_by_label("Password").fill(person["password"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{base_url}/dashboard")


def _buy_something(started: Browser, base_url: str, people: dict[str, dict[str, str]]) -> None:
    """Put something into the buyer's library, as the buyer would."""
    window = context(started, "desktop", "light")
    page = window.new_page()
    _sign_in(page, base_url, people["buyer"])
    page.goto(f"{base_url}/assets/halden-grotesk")
    page.get_by_role("button", name="Continue to buy").click()
    page.get_by_role("button", name="Pay").click()
    page.get_by_text("is yours").wait_for()
    window.close()


def _walk(
    started: Browser,
    base_url: str,
    people: dict[str, dict[str, str]],
    stops: list[Stop],
    size: str,
    scheme: Scheme,
    folder: Path,
    *,
    axe: bool,
) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each picture with what is wrong on its page."""
    for who in dict.fromkeys(stop.who for stop in stops):
        window = context(started, size, scheme)
        if who:
            _sign_in(window.new_page(), base_url, people[who])
        for stop in (each for each in stops if each.who == who):
            name = f"{stop.name}-{size}-{scheme}"
            page = window.new_page()
            faults = list(_visit(page, base_url, stop, people.get(stop.who, {}), axe=axe))
            # What is shown when one scrolls to it must be there.
            page.evaluate("document.querySelectorAll('img[loading=lazy]').forEach((image) => { image.loading = 'eager'; })")
            page.evaluate("Promise.all([...document.images].map((image) => image.decode().catch(() => null)))")
            page.screenshot(path=folder / f"{name}.png", full_page=True)
            page.close()
            yield name, faults
        window.close()


def _visit(page: Page, base_url: str, stop: Stop, person: dict[str, str], *, axe: bool) -> Iterator[str]:
    visit = None
    if stop.lead:
        stop.lead(page, base_url)
    else:
        visit = watched(page, base_url)
        page.goto(base_url + stop.path)
    if stop.path != AGAIN and page.get_by_role("heading", name="Confirm it's you").count():
        page.get_by_label("Password").fill(person["password"])
        page.get_by_role("button", name="Continue").click()
    page.wait_for_load_state("networkidle")
    if visit is not None:
        yield from (f"asked {address}" for address in visit.elsewhere)
        yield from (fault for fault in visit.faults if not (stop.name == "not-found" and "404" in fault))
        if visit.weight > MOST_BYTES:
            yield f"weighs {visit.weight / 1000:.0f} kB"
    if overflows(page):
        yield "is wider than the window"
    if axe:
        yield from violations(page)


def _write_index(folder: Path, names: list[str]) -> None:
    pictures = "".join(
        f'<figure><img src="{name}.png" alt="{name}" loading="lazy"><figcaption>{name}</figcaption></figure>' for name in names
    )
    style = (
        "body{font:1rem system-ui;display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;width:18rem}img{width:100%;border:1px solid #999}"
    )
    (folder / "index.html").write_text(f'<!DOCTYPE html><meta charset="utf-8"><style>{style}</style>{pictures}', "utf-8")


if __name__ == "__main__":
    sys.exit(main())
