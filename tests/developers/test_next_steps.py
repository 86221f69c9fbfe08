"""What a developer is told to do next."""

import pytest

from developers.dashboard.next_steps import first_call_url
from developers.models import App


@pytest.mark.parametrize(
    ("grant", "path"),
    [("library:read account:read", "/api/v1/library"), ("account:read", "/api/v1/wallet"), ("wallet:spend", "/api/v1/assets?limit=1")],
)
def test_suggested_first_call_needs_only_scopes_of_the_key(grant: str, path: str) -> None:
    assert first_call_url(App(granted_scopes=grant)).endswith(path)
