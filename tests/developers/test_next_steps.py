"""What a developer is told to do next."""

import pytest

from developers.dashboard.next_steps import first_call_url, next_step_of
from developers.models import ApiKey, App


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
