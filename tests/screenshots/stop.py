"""A page that is visited, and what leads to it."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page


@dataclass(frozen=True)
class Stop:
    """A page: how it is called, who looks at it, and its path or what leads to it."""

    name: str
    who: str
    path: str = ""
    lead: Callable[[Page, str], None] | None = None


def follow(path: str, selector: str, further: str = "") -> Callable[[Page, str], None]:
    """Return what opens the address behind a link of another page."""

    def lead(page: Page, base_url: str) -> None:
        page.goto(base_url + path)
        page.goto(base_url + str(page.locator(selector).first.get_attribute("href")) + further)

    return lead


def refused(lead: Callable[[Page, str], None], typed: dict[str, str]) -> Callable[[Page, str], None]:
    """Return what sends the form of a page so that the service refuses it, by the fields' names."""

    def mistake(page: Page, base_url: str) -> None:
        lead(page, base_url)
        form = page.locator("main form[method=post]").last
        form.evaluate("(form) => { form.noValidate = true; }")
        for name, text in typed.items():
            form.locator(f"[name={name}]").fill(text)
        form.locator("button[type=submit]").click()
        page.locator(".errorlist li").first.wait_for()

    return mistake


def at(path: str) -> Callable[[Page, str], None]:
    """Return what opens a path."""

    def lead(page: Page, base_url: str) -> None:
        page.goto(base_url + path)

    return lead
