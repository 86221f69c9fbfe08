"""A developer with the keyboard alone, on a phone and at a desk, with scripts and without: from the sign-in to a call."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from playwright.sync_api import Page

from developers.models import App, DeveloperApplication, FirstPartyToken, ScopeReview
from developers.services.applications import approve_application
from developers.services.scopes import ScopeDecision, decide_scopes
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope
from tests.factories import UserFactory
from tests.keyboard import fill, follow, press, reach, tick
from tests.screenshots.driving import overflows
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a long enough phrase"


@pytest.fixture
def person() -> User:
    user: User = UserFactory(password=PASSWORD)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


@pytest.mark.parametrize(("size", "java_script"), [("desktop", True), ("phone", False)])
def test_developer_goes_from_the_sign_in_to_a_call_with_the_keyboard_alone(
    window: Callable[..., Page],
    live_server: Any,
    person: User,
    size: str,
    java_script: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    page, reviewer = window(size, java_script=java_script), UserFactory()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{live_server.url}/account/login/?next=/dashboard")
    fill(page, "login", person.email)
    fill(page, "password", PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Hello").wait_for()

    follow(page, "Apply")
    fill(page, "what", "A font picker")
    fill(page, "why", "It reads the library")
    follow(page, "Send application")
    page.get_by_text("with our reviewers").wait_for()
    approve_application(application=DeveloperApplication.objects.get(), reason="A real product.", actor=reviewer)
    page.reload()
    follow(page, "Describe your first app")
    fill(page, "name", "Picker")
    fill(page, "purpose", "Picks fonts")
    tick(page, "library:read")
    fill(page, "reason_library_read", "It needs this.")
    follow(page, "Send for review")
    page.get_by_role("heading", name="The scopes are in review").wait_for()
    decide_scopes(review=ScopeReview.objects.get(), decisions={Scope.LIBRARY_READ: ScopeDecision(granted=True)}, note="", actor=reviewer)

    page.reload()
    follow(page, "New key")
    fill(page, "name", "laptop")
    page.keyboard.press("Enter")
    secret = page.locator("#secret").inner_text().strip()
    assert f"export KEY={secret}" in page.locator(".code").inner_text()
    if java_script:
        press(page, "Copy")
        page.wait_for_function("(secret) => navigator.clipboard.readText().then((text) => text === secret)", arg=secret)
    follow(page, "I have copied it")
    follow(page, "Open the console")
    # The header searches the catalog, by a field of the same name.
    fill(page, "console-q", "get library", "id")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=get**")
    follow(page, str(page.get_by_role("link", name="List owned assets").evaluate("(link) => link.href")), "href")
    page.get_by_label("Call it as").wait_for()
    press(page, "Run" if java_script else "Show the code")
    page.locator("#call-code .tab").first.wait_for()
    assert '-H "X-Api-Key: $KEY"' in page.locator("#call-code .tab").first.inner_text()
    if java_script:
        page.locator("#answer-body").get_by_text('"ownedCount": 0').wait_for()
        assert page.evaluate("document.activeElement.id") == "answer"
        assert page.locator("#answer-status").inner_text() == "200"
        assert "calls left" in page.locator("#answer-left").inner_text()
        assert FirstPartyToken.objects.get().app == App.objects.get()
        # The credential of the page is nowhere in it.
        assert "cam_fp_" not in page.content()
    assert not overflows(page)


@pytest.mark.parametrize(
    ("size", "button", "expected"),
    [("phone", "Create a token", '"kind":"personal"'), ("desktop", "Connect an AI assistant", '"kind":"mcp"')],
)
def test_newcomer_goes_from_the_sign_up_to_a_call_with_the_keyboard_alone(
    window: Callable[..., Page], live_server: Any, size: str, button: str, expected: str, tmp_path: Path
) -> None:
    page = window(size)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{live_server.url}/account/signup/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "email"
    fill(page, "email", "new@example.com")
    fill(page, "password1", PASSWORD)
    fill(page, "password2", PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    link = re.search(r"http://\S+", str(mail.outbox[-1].body))
    assert link
    page.goto(link[0])
    follow(page, "Confirm")
    page.get_by_role("heading", name="Hello").wait_for()

    follow(page, button)
    page.get_by_role("heading", name="Copy it now").wait_for()
    assert not overflows(page)
    # The call is the last of the blocks of code.
    for _ in range(page.locator(".code").count()):
        reach(page, "Copy the code", "ariaLabel")
    page.keyboard.press("Enter")
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('curl'))")
    script = tmp_path / "call.sh"
    script.write_text(page.evaluate("navigator.clipboard.readText()"), encoding="utf-8")
    command = ["sh", "-eu", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout.replace(" ", "")
