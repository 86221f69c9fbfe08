"""Each tool call is counted with its app, token, tool and outcome, and shown where the calls of the API are."""

import pytest
from bs4 import BeautifulSoup

from developers.models import AccessToken, ApiUsage, App
from developers.usage.buffer import usage_buffer
from marketplace.core.scopes import Scope
from tests.admin.pages import address, text_of
from tests.callers import signed_in
from tests.factories import UserFactory

from .speaking import NEWEST, WITH_HANDSHAKE, Speaker, mcp_token

pytestmark = pytest.mark.django_db
REVISIONS = pytest.mark.parametrize("revision", [NEWEST, WITH_HANDSHAKE[0]])


@REVISIONS
def test_messages_that_call_no_tool_count_by_outcome(revision: str) -> None:
    _, secret, _ = mcp_token()
    speaker = Speaker(secret, revision)
    answer = speaker.send("tools/call", {"name": "made_up"})
    assert answer.status_code == (400 if revision == NEWEST else 200)
    speaker.send("tools/list", {"cursor": "made up"})
    speaker.send("no/such/method")
    speaker.send("tools/list")
    usage_buffer.flush()
    kept = {(row.operation, row.status, row.calls) for row in ApiUsage.objects.all()}
    assert kept == {("POST mcp", 400, 2), ("POST mcp", 404, 1), ("POST mcp", 200, 1)}


@REVISIONS
def test_call_is_kept_with_app_token_tool_and_outcome(revision: str) -> None:
    token, secret, app = mcp_token(scopes=frozenset({Scope.ACCOUNT_READ, Scope.WALLET_SPEND}))
    speaker = Speaker(secret, revision)
    speaker.call("get_wallet")
    speaker.call("get_asset", assetId="no-such-asset")
    speaker.call("get_asset")
    speaker.send("tools/call", {"name": "list_library", "arguments": {}})
    usage_buffer.flush()
    kept = {(row.app, row.credential_id, row.kind, row.operation, row.scope, row.status) for row in ApiUsage.objects.all()}
    who = (app, token.pk, "mcp")
    assert kept == {
        (*who, "tool get_wallet", "account:read", 200),
        (*who, "tool get_asset", "", 404),
        (*who, "tool get_asset", "", 400),
        (*who, "tool list_library", "library:read", 403),
    }


@REVISIONS
def test_resource_that_is_not_found_counts_by_its_kind(revision: str) -> None:
    Speaker(mcp_token()[1], revision).send("resources/read", {"uri": "asset://no-such/manifest"})
    usage_buffer.flush()
    row = ApiUsage.objects.get()
    assert (row.operation, row.scope, row.status) == ("resource manifest", "catalog:read", 404)


@pytest.mark.slow
def test_owner_and_admin_see_what_was_called_and_what_became_of_it() -> None:
    token, secret, app = mcp_token()
    speaker = Speaker(secret)
    speaker.call("get_wallet")
    for _ in range(2):
        speaker.call("get_asset", assetId="no-such-asset")
    usage_buffer.flush()
    page = BeautifulSoup(signed_in(app.developer).get(f"/dashboard/apps/{app.pk}").content, "html.parser")
    refused = page.select("table:has(caption:-soup-contains('Refused and failed')) tbody tr")
    assert [[cell.get_text() for cell in row.select("th, td")] for row in refused] == [["tool get_asset", "404 Not Found", "2"]]
    assert f"{token.name} (…{token.hint})" in page.get_text()
    admin = signed_in(UserFactory(is_staff=True, is_superuser=True))
    for model, key in ((App, app.pk), (AccessToken, token.pk)):
        text = text_of(admin.get(address(model, "change", key)))
        assert "tool get_asset 404 Not Found 2" in text
        assert "tool get_wallet 1" in text
