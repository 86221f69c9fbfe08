"""The endpoint: what is a message, and how what is none is answered."""

import json
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from mcp_types.methods import validate_server_result

from marketplace.core import bounds
from marketplace.core.scopes import APP_SCOPES, format_scopes
from marketplace.mcp.revisions import SUPPORTED

from .speaking import CAPABILITIES, NEWEST, VERSION, WITH_HANDSHAKE, Speaker, mcp_token

pytestmark = pytest.mark.django_db

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@pytest.fixture
def secret() -> str:
    return mcp_token()[1]


@pytest.fixture
def newest(secret: str) -> Speaker:
    return Speaker(secret)


@pytest.fixture
def older(secret: str) -> Speaker:
    return Speaker(secret, WITH_HANDSHAKE[0])


def error_of(response: HttpResponse) -> tuple[int, int, Any]:
    """Return status, code and id of a refusal, which is well-formed."""
    body = json.loads(response.content)
    assert body.keys() == {"jsonrpc", "id", "error"}
    assert response["Content-Type"] == "application/json"
    return response.status_code, body["error"]["code"], body["id"]


def test_caller_without_a_token_learns_where_to_get_one() -> None:
    response = Speaker().send("tools/list")
    assert error_of(response) == (401, 401, None)
    metadata = 'resource_metadata="http://testserver/.well-known/oauth-protected-resource/mcp"'
    assert response["WWW-Authenticate"] == f'Bearer realm="marketplace", scope="{format_scopes(APP_SCOPES)}", {metadata}'
    found = Client().get("/.well-known/oauth-protected-resource/mcp").json()
    assert (found["resource"], found["authorization_servers"]) == ("http://testserver/mcp", ["http://testserver"])


@pytest.mark.parametrize("revision", SUPPORTED)
def test_every_protocol_revision_lists_and_calls_tools(secret: str, revision: str) -> None:
    speaker = Speaker(secret, revision)
    assert "get_wallet" in speaker.tools()
    result = speaker.call("list_categories")
    assert result["structuredContent"]["total"] == 5
    assert ("resultType" in result) == (revision == NEWEST)
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        validate_server_result(method, revision, speaker.result(method))


# --- who calls from where


@pytest.mark.parametrize("origin", ["null", "http://testserver.evil.example", "https://testserver"])
def test_mcp_request_from_another_origin_is_refused(newest: Speaker, origin: str) -> None:
    assert error_of(newest.send("tools/list", origin=origin)) == (403, 403, None)


def test_own_and_configured_origins_are_accepted(newest: Speaker, settings: Any) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://studio.example"]
    assert newest.send("tools/list", origin="http://testserver").status_code == 200
    response = newest.send("tools/list", origin="https://studio.example")
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (200, "https://studio.example")


def test_configured_origin_may_send_a_preflight_request(settings: Any) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://studio.example"]
    asked = {"origin": "https://studio.example", "access-control-request-method": "POST", "access-control-request-headers": "mcp-method"}
    response = Client().options("/mcp", headers=asked)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (200, "https://studio.example")
    assert {"mcp-method", "mcp-name", "mcp-protocol-version", "authorization"} <= set(response["Access-Control-Allow-Headers"].split(", "))


# --- what is a message


@pytest.mark.parametrize("method", ["get", "delete"])
def test_other_methods_are_not_allowed(newest: Speaker, method: str) -> None:
    response = getattr(newest.client, method)("/mcp", headers={"authorization": f"Bearer {newest.secret}"})
    assert (response.status_code, response["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("accept", "status"),
    [("text/event-stream", 406), ("application/json;q=0", 406), (None, 200), ("text/event-stream, Application/JSON; q=1", 200)],
)
def test_client_that_takes_no_json_is_refused_and_any_other_answered(newest: Speaker, accept: str | None, status: int) -> None:
    response = newest.send("tools/list", accept=accept)
    assert (response.status_code, response["Content-Type"]) == (status, "application/json")


def test_only_json_in_any_charset_is_a_media_type_of_messages(newest: Speaker) -> None:
    assert newest.send("tools/list", content_type="application/json; charset=utf-8").status_code == 200
    for content_type in ("text/plain", ""):
        assert error_of(newest.send("tools/list", content_type=content_type)) == (415, 415, None)


def test_body_that_is_too_large_or_comes_in_chunks_is_refused(newest: Speaker) -> None:
    assert error_of(newest.post(b" " * (bounds.JSON_BODY_BYTES + 1))) == (413, 413, None)
    assert error_of(newest.post(b" ", transfer_encoding="chunked")) == (411, 411, None)


# The parser is that of the API: `tests/contract/test_refusals.py` has more of what it refuses.
@pytest.mark.parametrize("body", [b" ", b'{"id": 1', b"\xff\xfe", b'{"a":' * 40 + b"1" + b"}" * 40])
def test_body_that_is_no_json_is_a_parse_error(newest: Speaker, body: bytes) -> None:
    assert error_of(newest.post(body)) == (400, -32700, None)


@pytest.mark.parametrize(
    ("body", "code", "message_id"),
    [
        ([LIST], -32600, None),
        ("tools/list", -32600, None),
        ({}, -32600, None),
        (LIST | {"jsonrpc": "1.0"}, -32600, 1),
        (LIST | {"id": None}, -32600, None),
        (LIST | {"id": True}, -32600, None),
        (LIST | {"id": 1.5}, -32600, None),
        (LIST | {"id": "x" * 201}, -32600, None),
        (LIST | {"id": 10**30}, -32600, None),
        (LIST | {"method": None}, -32600, 1),
        (LIST | {"method": ""}, -32600, 1),
        (LIST | {"method": "m" * 101}, -32600, 1),
        ({"jsonrpc": "2.0", "id": "r", "result": {}}, -32600, "r"),
        ({"jsonrpc": "2.0", "id": 2, "error": {"code": 1, "message": ""}}, -32600, 2),
        (LIST | {"params": [1]}, -32602, 1),
        (LIST | {"params": None}, -32602, 1),
    ],
)
def test_json_that_is_no_request_is_refused(newest: Speaker, body: Any, code: int, message_id: Any) -> None:
    assert error_of(newest.post(json.dumps(body))) == (400, code, message_id)


@pytest.mark.parametrize("message_id", [0, 2**53, "", "ünï"])
def test_response_has_the_id_of_the_request(newest: Speaker, message_id: Any) -> None:
    body = json.loads(newest.send("tools/list", message_id=message_id).content)
    assert (body["id"], type(body["id"])) == (message_id, type(message_id))


# --- notifications


@pytest.mark.parametrize("method", ["notifications/initialized", "tools/list", "made/up"])
def test_notification_is_accepted_and_not_answered_unless_its_revision_is_unknown(newest: Speaker, method: str) -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": method})
    for revision in (WITH_HANDSHAKE[0], None):
        response = newest.post(body, mcp_protocol_version=revision)
        assert (response.status_code, response.content) == (202, b"")
    assert error_of(newest.post(body, mcp_protocol_version="1999-01-01")) == (400, -32022, None)


# --- revisions


def test_newest_revision_is_discovered(newest: Speaker) -> None:
    result = newest.result("server/discover")
    assert result["supportedVersions"] == [NEWEST, *WITH_HANDSHAKE]
    skills: dict[str, Any] = {"io.modelcontextprotocol/skills": {}}
    assert result["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "extensions": skills}
    assert (result["resultType"], result["cacheScope"]) == ("complete", "public")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "creative-asset-marketplace"
    validate_server_result("server/discover", NEWEST, result)


def test_lists_that_depend_on_scopes_are_not_cached(newest: Speaker) -> None:
    for method in ("tools/list", "resources/list", "resources/templates/list"):
        result = newest.result(method)
        assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"), (NEWEST, "2025-11-25")],
)
def test_older_clients_agree_on_a_revision_by_initialize(secret: str, offered: str, agreed: str) -> None:
    params = {"protocolVersion": offered, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    response = Speaker(secret).post(json.dumps(body), mcp_protocol_version=None)
    result = json.loads(response.content)["result"]
    assert (result["protocolVersion"], result["serverInfo"]["name"]) == (agreed, "creative-asset-marketplace")
    assert "Mcp-Session-Id" not in response
    validate_server_result("initialize", agreed, result)
    # What the header says is about what comes after.
    response = Speaker(secret, "2025-11-25").post(json.dumps(body))
    assert json.loads(response.content)["result"]["protocolVersion"] == agreed


def test_methods_that_are_unknown_or_of_another_protocol_revision_are_not_found(newest: Speaker, older: Speaker) -> None:
    for method in ("made/up", "logging/setLevel", "ping", "initialize"):
        assert error_of(newest.send(method)) == (404, -32601, 1)
    for method in ("made/up", "server/discover"):
        assert error_of(older.send(method)) == (200, -32601, 1)
    # There are no sessions.
    response = older.send("ping", mcp_session_id="made-up")
    assert json.loads(response.content)["result"] == {}
    assert "Mcp-Session-Id" not in response


def test_error_about_an_unsupported_protocol_revision_lists_the_supported_ones(newest: Speaker, secret: str) -> None:
    old = "2025-03-26"
    for response in (
        newest.send("tools/list", {"_meta": {VERSION: old}}, mcp_protocol_version=old),
        Speaker(secret, old).send("tools/list"),
    ):
        assert error_of(response) == (400, -32022, 1)
        assert json.loads(response.content)["error"]["data"] == {"supported": list(SUPPORTED), "requested": old}


@pytest.mark.parametrize(
    ("headers", "meta"),
    [
        ({"mcp_protocol_version": None}, {}),
        ({"mcp_protocol_version": "2025-11-25"}, {}),
        ({"mcp_protocol_version": f"{NEWEST}, {NEWEST}"}, {}),
        ({}, {VERSION: "2025-11-25"}),
        ({"mcp_method": None}, {}),
        ({"mcp_method": "tools/list"}, {}),
        ({"mcp_method": "=?base64?dG9vbHMvY2FsbA==?="}, {}),
        ({"mcp_name": None}, {}),
        ({"mcp_name": "get_asset"}, {}),
        ({"mcp_name": "=?base64?Z2V0X2Fzc2V0?="}, {}),
        ({"mcp_name": "=?base64?Z2V0X3dhbGxldA?="}, {}),
        ({"mcp_name": "=?base64?/w==?="}, {}),
        ({"mcp_name": "=?BASE64?Z2V0X3dhbGxldA==?="}, {}),
    ],
)
def test_headers_that_contradict_the_body_are_refused(newest: Speaker, headers: dict[str, Any], meta: dict[str, Any]) -> None:
    params = {"name": "get_wallet", "arguments": {}, "_meta": meta}
    assert error_of(newest.send("tools/call", params, **headers)) == (400, -32020, 1)


def test_base64_encoded_name_header_is_decoded(newest: Speaker) -> None:
    assert newest.send("tools/call", {"name": "get_wallet"}, mcp_name="=?base64?Z2V0X3dhbGxldA==?=").status_code == 200
    uri = "asset://ünï/manifest"
    response = newest.send("resources/read", {"uri": uri}, mcp_name="=?base64?YXNzZXQ6Ly/DvG7Dry9tYW5pZmVzdA==?=")
    assert error_of(response) == (400, -32602, 1)
    assert json.loads(response.content)["error"]["data"] == {"uri": uri}


@pytest.mark.parametrize("meta", [None, {}, {VERSION: NEWEST}, {VERSION: 1, CAPABILITIES: {}}, {VERSION: NEWEST, CAPABILITIES: None}])
def test_request_without_valid_meta_is_refused(newest: Speaker, meta: Any) -> None:
    body = LIST | {"params": {"_meta": meta}}
    assert error_of(newest.post(json.dumps(body), mcp_method="tools/list")) == (400, -32602, 1)


def test_older_request_that_does_not_say_its_revision_is_refused(newest: Speaker) -> None:
    assert error_of(newest.post(json.dumps(LIST), mcp_protocol_version=None)) == (400, -32020, 1)


# --- limits and usage


def test_mcp_calls_count_against_the_rate_limit_and_one_too_many_is_a_429(settings: Any, newest: Speaker) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"bearer_app": 2}
    assert '"app";r=1;' in newest.send("tools/list")["RateLimit"]
    assert newest.call("get_wallet")
    response = newest.send("tools/list")
    assert error_of(response) == (429, 429, None)
    assert int(response["Retry-After"]) > 0
    assert '"app";q=2;w=60' in response["RateLimit-Policy"]


def test_anonymous_and_invalid_mcp_calls_are_limited_by_address(settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"anonymous": 1, "failed_credentials": 1}
    for speaker in (Speaker(), Speaker("cam_mcp_typo")):
        assert [speaker.send("tools/list").status_code for _ in range(2)] == [401, 429]


@pytest.mark.parametrize("store", ["tests.developers.broken.CacheDown", "tests.developers.broken.CacheForgets"])
def test_spending_tools_are_a_503_while_the_rate_limit_store_is_down(settings: Any, newest: Speaker, store: str) -> None:
    settings.CACHES = {"default": {"BACKEND": store}}
    assert newest.call("get_wallet")["isError"] is False
    for tool, arguments in (("buy_asset", {"assetId": "a", "idempotencyKey": "k"}), ("quote_purchase", {"assetId": "a"})):
        response = newest.send("tools/call", {"name": tool, "arguments": arguments})
        assert error_of(response) == (503, 503, 1)
        assert response["Retry-After"]


# --- what nobody foresaw


@pytest.mark.parametrize("revision", [NEWEST, "2025-06-18"])
def test_crash_of_a_tool_is_a_protocol_error_without_details(
    secret: str, revision: str, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def crash(*_args: Any) -> None:
        message = "a secret of the inside"
        raise RuntimeError(message)

    monkeypatch.setattr("marketplace.mcp.tools.wallet.wallet_of", crash)
    response = Speaker(secret, revision).send("tools/call", {"name": "get_wallet"})
    assert error_of(response) == (500, -32603, 1)
    assert b"inside" not in response.content
    assert json.loads(response.content)["error"]["data"]["requestId"] == response["X-Request-Id"]
    assert "POST '/mcp' failed" in caplog.text
