"""The pages of a second factor, in the order in which someone sets one up and turns it off again."""

import base64
import hashlib
import hmac
import time

from playwright.sync_api import Page

STEP_SECONDS = 30
DIGITS = 6


def to_codes(page: Page, base_url: str) -> None:
    """Set up an authenticator app; the recovery codes are shown."""
    page.goto(f"{base_url}/account/2fa/totp/activate/")
    page.get_by_label("Code that the app shows").fill(_code(page.locator("#authenticator_secret").inner_text()))
    page.get_by_role("button", name="Turn on").click()
    page.get_by_role("heading", name="Recovery codes").wait_for()


def to_ended(page: Page, base_url: str) -> None:
    """Turn it off, so that the next sign-in asks for the password alone."""
    page.goto(f"{base_url}/account/2fa/totp/deactivate/")
    page.get_by_role("button", name="Turn off").click()
    page.get_by_role("link", name="Set up").wait_for()


def _code(secret: str) -> str:
    """Return what an app shows now (RFC 6238)."""
    counter = int(time.time()) // STEP_SECONDS
    digest = hmac.digest(base64.b32decode(secret), counter.to_bytes(8, "big"), hashlib.sha1)
    start = digest[-1] & 0xF
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}}"
