"""A browser with a window size and a colour scheme, and its findings on a page."""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, ViewportSize, expect, sync_playwright
from playwright.sync_api import Error as BrowserError

from tests.machine import CHROMIUM
from tests.waiting import PATIENCE_SECONDS

Scheme = Literal["light", "dark"]
SIZES = {"phone": ViewportSize(width=360, height=780), "desktop": ViewportSize(width=1280, height=860)}
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
# What a page may weigh without its images and sounds.
MOST_BYTES = 150_000
# How long a page may take to show what is awaited: a hundred times what it takes.
WINDOW_SECONDS = 90.0
# What never ends is not waited for.
_MOVES = "document.getAnimations().some(each => each.playState === 'running' && each.effect.getComputedTiming().endTime !== Infinity)"
_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
_HAS_AXE = "window.axe !== undefined"
# What it finds right is long, and nobody reads it.
_RUN = "options => axe.run({...options, resultTypes: ['violations']}).then(found => found.violations)"


def program(*, whole: bool = False) -> str:
    """Return the browser's program, if possible the whole one, windows and all."""
    found = [path for path in map(shutil.which, CHROMIUM) if path]
    return min(found, key=lambda path: whole and path.endswith("headless-shell"))


@contextmanager
def browser(*arguments: str) -> Iterator[Browser]:
    """Start Chromium, and end it."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program(), args=[*ARGUMENTS, *arguments], timeout=PATIENCE_SECONDS * 1000)
        try:
            yield started
        finally:
            started.close()


@dataclass
class Visit:
    """What was noticed while a page was open.

    Args:
        host: Ours.
        weight: Bytes of all that is neither image nor sound, as they came.
        elsewhere: Addresses of other hosts that were asked.
        faults: Answers that failed, errors on the console.
    """

    host: str
    weight: int = 0
    elsewhere: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def note(self, response: Response) -> None:
        address = urlsplit(response.url)
        if address.scheme in {"data", "blob"}:
            return
        if address.netloc != self.host:
            self.elsewhere.append(response.url)
        if response.request.resource_type not in {"image", "media"} and not 300 <= response.status < 400:
            self.weight += int(response.headers.get("content-length") or 0) or _length_of(response)

    def record_message(self, message: ConsoleMessage) -> None:
        """Note an error on the console; a breach of the pages' own content policy is told there."""
        # What was asked and is given up, for another question or another page, is no error of ours; htmx tells of it as of one.
        if message.type == "error" and message.text not in {"htmx:afterRequest", "htmx:sendAbort"}:
            self.faults.append(message.text)

    def note_error(self, error: BrowserError) -> None:
        self.faults.append(str(error))


def _length_of(response: Response) -> int:
    """Return the length of an answer that does not state it; none of one whose page was left before it came."""
    try:
        return len(response.body())
    except BrowserError:
        return 0


def watched(page: Page, base_url: str) -> Visit:
    """Return what will be noticed on the page from now on."""
    visit = Visit(urlsplit(base_url).netloc)
    page.on("response", visit.note)
    page.on("pageerror", visit.note_error)
    page.on("console", visit.record_message)
    return visit


def leave(page: Page, visit: Visit) -> None:
    """Notice nothing any more: what is cut off by the way to the next page is nobody's fault."""
    page.remove_listener("response", visit.note)
    page.remove_listener("pageerror", visit.note_error)
    page.remove_listener("console", visit.record_message)


def violations(page: Page, rules: Sequence[str] | None = None) -> list[str]:
    """Return what axe-core finds wrong with the page once it has stopped moving, by all rules or by some."""
    # A colour half-way through a fade is nobody's colour: from here on nothing fades, and what had begun to must be over.
    page.emulate_media(reduced_motion="reduce")
    end = time.monotonic() + PATIENCE_SECONDS
    while page.evaluate(_MOVES):
        assert time.monotonic() < end, f"something on {page.url} moves without end"
        page.wait_for_timeout(20)
    options = {"runOnly": {"type": "rule", "values": [*rules]}} if rules else _RULES
    if not page.evaluate(_HAS_AXE):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(_RUN, options)
    return [f"{rule['id']}: {node['target'][0]} {node['failureSummary'][:160]}" for rule in found for node in rule["nodes"][:3]]


def overflows(page: Page) -> bool:
    """Tell whether the page is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def context(started: Browser, size: str, scheme: Scheme, *, java_script: bool = True) -> BrowserContext:
    """Return a window of a size and a colour scheme, with nothing remembered."""
    return patient(
        started.new_context(
            viewport=SIZES[size], color_scheme=scheme, has_touch=size == "phone", reduced_motion="reduce", java_script_enabled=java_script
        )
    )


def patient(window: BrowserContext) -> BrowserContext:
    """Let a window wait as long as a busy machine needs."""
    window.set_default_timeout(WINDOW_SECONDS * 1000)
    return window


def still(page: Page) -> None:
    """Stop the page's own clock: what it would do after a while, it does not do by itself."""
    page.clock.install(time=0)
    page.clock.pause_at(1)


expect.set_options(timeout=WINDOW_SECONDS * 1000)
