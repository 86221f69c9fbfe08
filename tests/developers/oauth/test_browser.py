"""The consent page in a real browser: its own content policy must let the answer out, wherever an app takes it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, Page

from developers.models import App
from marketplace.accounts.models import User
from tests.factories import PASSWORD, AppFactory
from tests.screenshots.driving import browser, patient
from tests.servers.certificate import tls_server
from tests.servers.http import Handler, serving

from .parties import Party, move, query_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOST = "app.example"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser that finds the app's host on this machine."""
    # As in the suite's own.
    with pytest.MonkeyPatch.context() as patch, browser(f"--host-resolver-rules=MAP {HOST} 127.0.0.1") as started:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield started
        connections.close_all()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A phone's browser that takes the certificate of the app's host."""
    context = patient(chromium.new_context(viewport={"width": 375, "height": 667}, ignore_https_errors=True))
    yield context.new_page()
    context.close()
    connections.close_all()


class Callback(Handler):
    """Says that someone arrived; under /hop it sends them on."""

    onward = ""

    def respond(self) -> None:
        """Answer a browser."""
        if self.path.startswith("/hop"):
            self.answer(302, Location=f"{self.onward}?{self.path.partition('?')[2]}")
        else:
            self.answer(200, b"<title>arrived</title>", Content_Type="text/html")


@pytest.fixture
def callbacks(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Where apps of every kind wait for an answer."""
    tls, _ = tls_server(tmp_path, HOST)
    with serving(Callback) as local, serving(Callback, tls=tls) as secure:
        Callback.onward = f"http://127.0.0.1:{local}/landed"
        yield {
            "https": f"https://{HOST}:{secure}/done",
            "IPv4": f"http://127.0.0.1:{local}/done",
            "onward": f"https://{HOST}:{secure}/hop",
        }


@pytest.mark.parametrize(
    ("kind", "button", "answer"),
    [*((kind, "Allow", "code") for kind in ("https", "IPv4", "onward")), ("onward", "Deny", "error")],
)
def test_browser_brings_the_response_to_the_app(
    app: App, browser: Client, live_server: Any, page: Page, callbacks: dict[str, str], kind: str, button: str, answer: str
) -> None:
    uri = callbacks[kind]
    App.objects.filter(pk=app.pk).update(redirect_uris=uri)
    address = Party(app, browser, redirect_uri=uri).ask().wsgi_request.get_full_path()
    page.context.add_cookies([{"name": "sessionid", "value": browser.cookies["sessionid"].value, "url": live_server.url}])
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    page.goto(f"{live_server.url}{address}")
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_url(f"{callbacks['IPv4'].replace('done', 'landed')}?*" if kind == "onward" else f"{uri}?*")
    assert answer in query_of(page.url)
    assert not [text for text in refused if "favicon" not in text]


def test_faulty_request_brings_the_user_back_even_from_the_sign_in(
    app: App, user: User, live_server: Any, page: Page, callbacks: dict[str, str]
) -> None:
    App.objects.filter(pk=app.pk).update(redirect_uris=callbacks["https"])
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    visitor = Client()
    address = Party(app, visitor, redirect_uri=callbacks["https"]).ask(scope="everything").wsgi_request.get_full_path()
    page.goto(f"{live_server.url}{address}")
    page.get_by_label("Email").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name=f"Go back to {HOST}").click()
    page.wait_for_url(f"{callbacks['https']}?*")
    assert query_of(page.url)["error"] == "invalid_scope"
    # Without a sign-in on the way nobody is held up.
    page.goto(f"{live_server.url}{address}")
    assert query_of(page.url)["error"] == "invalid_scope"


def test_script_of_an_app_calls_the_api_with_its_own_token_alone(
    app: App, browser: Client, live_server: Any, page: Page, callbacks: dict[str, str]
) -> None:
    other = AppFactory(granted_scopes=app.granted_scopes, redirect_uris="https://other.example/done")
    move(app, callbacks["https"])
    own = Party(app, browser, redirect_uri=callbacks["https"]).tokens()["access_token"]
    foreign = Party(other, browser, redirect_uri="https://other.example/done").tokens()["access_token"]
    page.goto(callbacks["https"])
    script = """async ([address, token]) => {
        const answer = await fetch(address, {headers: {Authorization: `Bearer ${token}`}}).catch(() => null);
        return answer && [answer.status, answer.headers.has("RateLimit")];
    }"""
    wallet = f"{live_server.url}/api/v1/wallet"
    assert page.evaluate(script, [wallet, own]) == [200, True]
    assert page.evaluate(script, [wallet, "expired"]) == [401, True]
    assert page.evaluate(script, [wallet, foreign]) is None
