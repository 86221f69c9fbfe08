"""Static files keep no thread of the server."""

from typing import Any

import pytest
from django.test import Client

PATH = "/static/css/base.css"


@pytest.fixture(autouse=True)
def _served(settings: Any) -> None:
    """Serve them from where they are kept, as the quickstart does."""
    settings.WHITENOISE_USE_FINDERS = True


def test_static_file_is_a_whole_response(client: Client) -> None:
    whole, part, head = client.get(PATH), client.get(PATH, headers={"range": "bytes=2-9"}), client.head(PATH)
    assert not any(answer.streaming for answer in (whole, part, head))
    assert (part.status_code, part.content, head.content) == (206, whole.content[2:10], b"")
    assert head["Content-Length"] == whole["Content-Length"] == str(len(whole.content))
