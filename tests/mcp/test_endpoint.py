"""The endpoint: who is let in, what is a message, and how it is answered."""

import json

import pytest

from .speaking import NEWEST, WITH_HANDSHAKE, Speaker, tool_token

pytestmark = pytest.mark.django_db


def test_caller_without_a_token_learns_where_to_get_one() -> None:
    response = Speaker().send("tools/list")
    assert response.status_code == 401
    metadata = 'resource_metadata="http://testserver/.well-known/oauth-protected-resource/mcp"'
    assert response["WWW-Authenticate"] == f'Bearer realm="marketplace", {metadata}'
    assert json.loads(response.content)["error"]["data"]["code"] == "not_authenticated"


@pytest.mark.parametrize("revision", [NEWEST, *WITH_HANDSHAKE])
def test_every_revision_lists_and_calls(revision: str) -> None:
    _, secret, _ = tool_token()
    speaker = Speaker(secret, revision)
    assert "get_wallet" in speaker.tools()
    assert speaker.call("get_wallet")["structuredContent"]["balanceINR"] == 0
    assert speaker.call("list_categories")["structuredContent"]["total"] == 5
