"""A browser in a size and a colour scheme, and what it noticed on a page."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Response, ViewportSize, sync_playwright

from tests.machine import CHROMIUM

Scheme = Literal["light", "dark"]
SIZES = {"phone": ViewportSize(width=360, height=780), "desktop": ViewportSize(width=1280, height=860)}
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
# What a page may weigh without its images and sounds.
MOST_BYTES = 150_000
_AXE = Axe()
# What never ends is not waited for.
_MOVES = "document.getAnimations().some(each => each.playState === 'running' && each.effect.getComputedTiming().endTime !== Infinity)"
_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def program() -> str:
    """Return the browser's program."""
    return next(path for path in map(shutil.which, CHROMIUM) if path)


@contextmanager
def browser(*arguments: str) -> Iterator[Browser]:
    """Start Chromium, and end it."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program(), args=[*ARGUMENTS, *arguments])
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
        """Count an answer."""
        address = urlsplit(response.url)
        if address.scheme in {"data", "blob"}:
            return
        if address.netloc != self.host:
            self.elsewhere.append(response.url)
        if response.request.resource_type not in {"image", "media"} and not 300 <= response.status < 400:
            self.weight += int(response.headers.get("content-length") or 0) or len(response.body())


def watched(page: Page, base_url: str) -> Visit:
    """Return what will be noticed on the page from now on."""
    visit = Visit(urlsplit(base_url).netloc)
    page.on("response", visit.note)
    page.on("pageerror", lambda error: visit.faults.append(str(error)))
    # A breach of the pages' own content policy is told on the console.
    page.on("console", lambda message: visit.faults.append(message.text) if message.type == "error" else None)
    return visit


def violations(page: Page, rules: Sequence[str] | None = None) -> list[str]:
    """Return what axe-core finds wrong with the page once it has stopped moving, by all rules or by some."""
    while page.evaluate(_MOVES):
        # A colour half-way through a fade is nobody's colour.
        page.wait_for_timeout(20)
    options = {"runOnly": {"type": "rule", "values": [*rules]}} if rules else _RULES
    found = _AXE.run(page, options=options).response["violations"]
    return [f"{rule['id']}: {node['target'][0]} {node['failureSummary'][:160]}" for rule in found for node in rule["nodes"][:3]]


def overflows(page: Page) -> bool:
    """Tell whether the page is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def context(started: Browser, size: str, scheme: Scheme, *, java_script: bool = True) -> BrowserContext:
    """Return a window of a size and a colour scheme, with nothing remembered."""
    return started.new_context(
        viewport=SIZES[size], color_scheme=scheme, has_touch=size == "phone", reduced_motion="reduce", java_script_enabled=java_script
    )
