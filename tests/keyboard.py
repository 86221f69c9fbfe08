"""Uses a page with the keyboard only."""

from pathlib import Path

from playwright.sync_api import Page

_FOCUS = "document.activeElement"
# It is seen on the element, or on what stands for it.
_SEEN = f"[{_FOCUS}, {_FOCUS}.closest('.asset, .check')].some((one) => one && getComputedStyle(one).outlineStyle === 'solid')"
# More than any page has stops.
_STOPS = 120


def reach(page: Page, words: str, attribute: str = "innerText") -> None:
    """Press Tab until what has the focus is this, and see that the focus can be seen."""
    for _ in range(_STOPS):
        page.keyboard.press("Tab")
        # On the page's own list of pages the same words may lead elsewhere.
        if page.evaluate(f"(name) => !{_FOCUS}.closest('.side') && {_FOCUS}[name]?.trim?.()", attribute) == words:
            assert page.evaluate(_SEEN), words
            return
    raise AssertionError(f"the keyboard does not reach {words}")


def press(page: Page, words: str) -> None:
    """Press the button that says this."""
    reach(page, words)
    page.keyboard.press("Enter")


def follow(page: Page, words: str, attribute: str = "innerText") -> None:
    """Press what says this, and wait for the page that it leads to."""
    reach(page, words, attribute)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def fill(page: Page, field: str, text: str, attribute: str = "name") -> None:
    """Type into the field of this name, in place of what is there."""
    reach(page, field, attribute)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def tick(page: Page, value: str) -> None:
    """Turn the box of this value over."""
    reach(page, value, "value")
    page.keyboard.press("Space")


def choose(page: Page, field: str, file: Path) -> None:
    """Choose a file for the field of this id."""
    # The browser is told first that nobody is there to use its window of files.
    with page.expect_file_chooser() as chooser:
        reach(page, field, "id")
        page.keyboard.press("Enter")
    chooser.value.set_files(file)
