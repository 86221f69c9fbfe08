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
        (None, NOTHING, ["Apply"]),
        ("Withdrawn", NOTHING, ["Apply"]),
        ("MoreInfoNeeded", NOTHING, ["Wait for approval"]),
        ("Approved", NOTHING, ["Describe an app"]),
        ("Approved", DESCRIBED, ["Wait for the scopes"]),
        ("Approved", GRANTED, ["Create a key and make a call"]),
        ("Approved", KEYED, []),
    ],
)
def test_milestones_mark_the_current_step_until_there_is_a_key(status: str | None, progress: Progress, now: list[str]) -> None:
    way = milestones_of(None if status is None else DeveloperApplication(status=status), progress)
    assert [label for label, state in way if state == "now"] == now


@pytest.mark.parametrize(
    ("app", "keys", "title"),
    [
        (App(status="Pending"), [], "The scopes are in review"),
        (App(status="Rejected"), [], "Describe another app"),
        (App(status="Suspended", granted_scopes="library:read"), [ApiKey()], "The app is suspended"),
        (App(status="Approved"), [], "Request scopes"),
        (App(status="Approved", granted_scopes="library:read"), [], "Create a key"),
        (App(status="Approved", granted_scopes="library:read"), [ApiKey()], "Make the first call"),
    ],
)
def test_app_has_one_next_step_until_it_calls(app: App, keys: list[ApiKey], title: str) -> None:
    step = next_step_of(app, keys, called=False)
    assert step is not None
    assert step.title == title
    assert (next_step_of(app, keys, called=True) is None) is (title == "Make the first call")


@pytest.mark.parametrize(
    ("grant", "path"),
    [("library:read account:read", "/api/v1/library"), ("account:read", "/api/v1/wallet"), ("wallet:spend", "/api/v1/assets?limit=1")],
)
def test_suggested_first_call_needs_only_scopes_of_the_key(grant: str, path: str) -> None:
    assert first_call_url(App(granted_scopes=grant)).endswith(path)
