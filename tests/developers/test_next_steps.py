"""What a developer is told to do next."""

import pytest

from developers.dashboard.next_steps import first_call_url, milestones_of, next_step_of
from developers.models import ApiKey, App, DeveloperApplication
from developers.selectors import Progress

NOTHING, DESCRIBED, GRANTED = Progress(), Progress(has_app=True), Progress(has_app=True, has_grant=True)
KEYED = Progress(has_app=True, has_grant=True, has_key=True)


@pytest.mark.parametrize(
    ("status", "progress", "now"),
    [
        (None, NOTHING, "Apply"),
        ("Rejected", NOTHING, "Apply"),
        ("Withdrawn", NOTHING, "Apply"),
        ("Pending", NOTHING, "Wait for approval"),
        ("MoreInfoNeeded", NOTHING, "Wait for approval"),
        ("Approved", NOTHING, "Describe an app"),
        ("Approved", DESCRIBED, "Wait for the scopes"),
        ("Approved", GRANTED, "Create a key and make a call"),
    ],
)
def test_milestones_mark_the_current_step(status: str | None, progress: Progress, now: str) -> None:
    way = milestones_of(None if status is None else DeveloperApplication(status=status), progress)
    assert [label for label, state in way if state == "now"] == [now]
    assert [state for _, state in way] == sorted((state for _, state in way), key=["done", "now", "later"].index)


def test_no_next_steps_are_shown_after_the_first_key() -> None:
    assert milestones_of(DeveloperApplication(status="Approved"), KEYED) == []


@pytest.mark.parametrize(
    ("app", "keys", "called", "title", "waits"),
    [
        (App(status="Pending"), [], False, "The scopes are in review", True),
        (App(status="Rejected"), [], False, "Describe another app", False),
        (App(status="Suspended", granted_scopes="library:read"), [ApiKey()], True, "The app is suspended", True),
        (App(status="Approved"), [], False, "Request scopes", False),
        (App(status="Approved", granted_scopes="library:read"), [], False, "Create a key", False),
        (App(status="Approved", granted_scopes="library:read"), [ApiKey()], False, "Make the first call", False),
    ],
)
def test_app_has_one_next_step(app: App, keys: list[ApiKey], called: bool, title: str, waits: bool) -> None:  # noqa: FBT001 - parameters of the test
    step = next_step_of(app, keys, called=called)
    assert step is not None
    assert (step.title, bool(step.address)) == (title, not waits)


def test_app_that_calls_needs_no_next_step() -> None:
    assert next_step_of(App(status="Approved", granted_scopes="library:read"), [ApiKey()], called=True) is None


@pytest.mark.parametrize(
    ("grant", "path"),
    [("library:read account:read", "/api/v1/library"), ("account:read", "/api/v1/wallet"), ("wallet:spend", "/api/v1/assets?limit=1")],
)
def test_suggested_first_call_needs_only_scopes_of_the_key(grant: str, path: str) -> None:
    assert first_call_url(App(granted_scopes=grant)).endswith(path)
