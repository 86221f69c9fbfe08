"""The consent page in a real browser: its own content policy must let the answer out, and nothing else."""

import shutil
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import sync_playwright

from developers.models import App
from marketplace.accounts.models import User
from tests.machine import CHROMIUM

from .parties import Party, query_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("button", "answer"), [("Allow", "code"), ("Do not allow", "error")])
def test_browser_brings_the_answer_to_the_app(
    app: App, user: User, browser: Client, live_server: Any, monkeypatch: pytest.MonkeyPatch, button: str, answer: str
) -> None:
    # Playwright runs an event loop in this thread, which Django would take for asynchronous code.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    port = live_server.url.rpartition(":")[2]
    # Another origin than the page's, though the same server answers there.
    party = Party(app, browser, redirect_uri=f"http://127.0.0.1:{port}/done")
    address = party.ask().wsgi_request.get_full_path()
    program = next(path for path in map(shutil.which, CHROMIUM) if path)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        page = chromium.new_context(viewport={"width": 375, "height": 667}).new_page()
        page.context.add_cookies([{"name": "sessionid", "value": browser.cookies["sessionid"].value, "url": live_server.url}])
        page.goto(f"{live_server.url}{address}")
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        page.get_by_role("button", name=button, exact=True).click()
        page.wait_for_url(f"http://127.0.0.1:{port}/done?*")
        assert answer in query_of(page.url)
        chromium.close()
