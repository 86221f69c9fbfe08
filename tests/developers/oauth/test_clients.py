"""Clients that describe themselves: from the first meeting to a token, and what happens when their document changes."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from developers import bounds
from developers.models import ApiKey, App, MetadataReview, ScopeReview
from developers.services.apps import suspend_app
from developers.services.clients import decide_metadata, reopen_client
from developers.services.credentials import issue_api_key, issue_mcp_token
from developers.services.scopes import ScopeDecision, decide_scopes, reject_app
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import InvalidTransition, NotFound
from marketplace.core.scopes import APP_SCOPES, Scope
from marketplace.http import outbound
from marketplace.http.outbound import Failed, Response
from tests.factories import AppFactory, UserFactory

from .documents import GOOD, URL, app_of_document
from .parties import MCP, Party, assert_error

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

BACK = "https://client.example/callback"
WANTED = {"scope": "catalog:read account:read", "resource": MCP}


class Web:
    """The web as we see it: one document, and who asked for it."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = dict(GOOD)
        self.fails = False
        self.calls: list[str] = []

    def request(self, method: str, url: str, *, headers: Any, seconds: float, max_bytes: int) -> Response:
        """Stand in for `outbound.request`."""
        self.calls.append(url)
        if self.fails:
            raise Failed("No connection could be made.")
        headers = {"Content-Type": "application/json", "Cache-Control": "max-age=600"}
        return Response(200, headers, orjson.dumps(self.document)[:max_bytes])


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Web:
    settings.CLIENT_METADATA_HOSTS = ["client.example"]
    web = Web()
    monkeypatch.setattr(outbound, "request", web.request)
    return web


@pytest.fixture
def client_party(browser: Client) -> Party:
    """The client's side of the flow; it has no row here yet."""
    return Party(App(client_id=URL), browser, redirect_uri=BACK)


@pytest.fixture
def approved(web: Web, client_party: Party) -> App:
    client_party.ask(**WANTED)
    granted = {Scope.CATALOG_READ, Scope.ACCOUNT_READ}
    decisions = {scope: ScopeDecision(granted=scope in granted) for scope in APP_SCOPES}
    return decide_scopes(review=ScopeReview.objects.get(), decisions=decisions, note="Looks fine.", actor=UserFactory())


def ask_when_stale(web: Web, client_party: Party, **changes: Any) -> Any:
    """Open the consent page when the document has to be read again, with changes."""
    web.document |= changes
    App.objects.update(cimd_expires_at=timezone.now() - timedelta(seconds=1))
    return client_party.ask(**WANTED)


def test_no_unknown_client_is_fetched_without_allowed_hosts(web: Web, client_party: Party, settings: Any) -> None:
    settings.CLIENT_METADATA_HOSTS = []
    assert client_party.ask(**WANTED).status_code == 400
    assert (web.calls, App.objects.count()) == ([], 0)
    assert Client().get("/.well-known/oauth-authorization-server").json()["client_id_metadata_document_supported"] is False


def test_host_that_is_not_listed_is_not_called(web: Web, browser: Client) -> None:
    for host in ("evil.example", "client.example.evil.example", "xclient.example", "sub.client.example", "127.0.0.1"):
        assert Party(App(client_id=f"https://{host}/c.json"), browser, redirect_uri=BACK).ask(**WANTED).status_code == 400
    assert (web.calls, App.objects.count()) == ([], 0)


def test_client_document_is_fetched_neither_for_a_visitor_nor_by_the_token_endpoint(web: Web, client_party: Party) -> None:
    assert Party(App(client_id=URL), Client(), redirect_uri=BACK).ask(**WANTED)["Location"].startswith("/account/login")
    assert_error(client_party.exchange("code"), "invalid_client", 401)
    assert web.calls == []


def test_unknown_client_is_a_pending_app_without_a_developer_and_gets_no_token(web: Web, client_party: Party, user: User) -> None:
    page = client_party.ask(**WANTED)
    assert page.status_code == 403
    assert b"waiting for review" in page.content
    app = App.objects.get()
    assert (app.status, app.user, app.name, app.client_id) == ("Pending", None, "Assistant", URL)
    assert set(ScopeReview.objects.get(app=app).app.scope_rows.values_list("scope", flat=True)) == set(APP_SCOPES)
    entry = audit.history_of(app).get(action="app.create")
    assert (entry.actor, entry.to_state, entry.data) == (user, "Pending", {"name": "Assistant", "document": URL})
    # Asking again changes nothing and calls nobody.
    assert client_party.ask(**WANTED).status_code == 403
    assert (len(web.calls), App.objects.count()) == (1, 1)
    assert client_party.browser.post(f"/oauth/authorize?client_id={URL}", {"decision": "allow"}).status_code == 400
    assert_error(client_party.exchange("code"), "invalid_client", 401)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://client.example/other.json"},
        {"padding": "a" * 20_000},
        {"client_name": " \u200b "},
        {"client_name": "Assistant \u202e"},
        {"redirect_uris": [7]},
        {"redirect_uris": ["client://callback", "http://client.example/callback", "https://*.client.example/"]},
        {"redirect_uris": ["https://client.example/callback https://evil.example/"]},
        {"redirect_uris": [f"https://client.example/{n}" for n in range(11)]},
        {"client_secret": "s"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"grant_types": ["client_credentials"]},
    ],
)
def test_client_document_that_breaks_a_rule_creates_no_app(web: Web, client_party: Party, changes: dict[str, Any]) -> None:
    web.document |= changes
    assert client_party.ask(**WANTED).status_code == 400
    assert (len(web.calls), App.objects.count()) == (1, 0)


def test_client_document_that_cannot_be_read_creates_no_app_and_is_not_fetched_again_at_once(web: Web, client_party: Party) -> None:
    web.fails = True
    for _ in range(2):
        assert (client_party.ask(**WANTED).status_code, App.objects.count()) == (400, 0)
    assert len(web.calls) == 1


def test_client_beyond_the_limit_of_pending_ones_is_refused_on_the_page(
    web: Web, client_party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_WAITING_CLIENTS_OF_HOST", 0)
    assert (client_party.ask(**WANTED).status_code, App.objects.count()) == (400, 0)


def test_unsupported_redirect_uris_and_grants_of_a_client_document_are_ignored(web: Web, client_party: Party) -> None:
    web.document = GOOD | {
        "redirect_uris": ["client://callback", "http://localhost/callback", "http://[::1]:7000/callback"],
        "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    }
    assert client_party.ask(**WANTED, redirect_uri="http://localhost/callback").status_code == 403
    app = App.objects.get()
    assert app.redirect_uris.split() == ["http://localhost/callback", "http://[::1]:7000/callback"]
    assert (app.client_type, app.authorization_grant_type, app.client_secret) == ("public", "authorization-code", "")


def test_client_id_that_is_no_valid_document_url_is_refused(web: Web, browser: Client) -> None:
    for rest in ("client.example", "user@client.example/c", "[::1/c", "client.example/ c", "client.example/" + "a" * 300):
        client_id = f"https://{rest}"
        web.document = GOOD | {"client_id": client_id}
        assert Party(App(client_id=client_id), browser, redirect_uri=BACK).ask(**WANTED).status_code == 400, rest
    assert (web.calls, App.objects.count()) == ([], 0)


def test_saving_an_app_by_the_oauth_toolkit_keeps_reviewed_name_and_redirect_uris(approved: App) -> None:
    before = approved.redirect_uris
    stale = app_of_document(name="Your bank", redirect_uris=["https://evil.example/callback"])
    suspend_app(app=approved, reason="Odd.", actor=UserFactory())
    stale.save()
    approved.refresh_from_db()
    assert (approved.name, approved.redirect_uris, approved.status) == ("Assistant", before, "Suspended")


def test_client_documents_fetched_for_one_user_are_rate_limited(web: Web, browser: Client, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"client_documents": 2}
    answers = [Party(App(client_id=f"{URL}?{n}"), browser, redirect_uri=BACK).ask(**WANTED) for n in range(3)]
    assert [answer.status_code for answer in answers] == [400, 400, 429]
    assert int(answers[2]["Retry-After"]) > 0
    assert len(web.calls) == 2


def test_approved_client_gets_what_it_was_granted(approved: App, client_party: Party) -> None:
    page = client_party.ask(**WANTED).content.decode()
    assert "which describes itself at <bdi>client.example</bdi>" in page
    body = client_party.tokens(**WANTED)
    assert body["token_type"] == "Bearer"
    assert body["access_token"].startswith("cam_mcp_")
    assert set(body["scope"].split()) == {"catalog:read", "account:read"}
    assert client_party.ask(**WANTED, redirect_uri="https://client.example/other").status_code == 400


def test_consent_page_warns_of_a_program_on_the_users_computer(approved: App, client_party: Party) -> None:
    for uri, warned in (("http://127.0.0.1:51823/callback", True), (BACK, False)):
        page = client_party.ask(**WANTED, redirect_uri=uri)
        assert (b"Any program on this computer" in page.content) is warned


def test_refused_client_shows_the_reason_and_can_be_reviewed_and_refused_again(web: Web, client_party: Party) -> None:
    client_party.ask(**WANTED)
    app = App.objects.get()
    with pytest.raises(InvalidTransition):
        reopen_client(app=app, reason="Not refused yet.", actor=UserFactory())
    for reason in ("Nobody knows them.", "Still nobody does."):
        assert reject_app(app=app, reason=reason, actor=UserFactory()).status_reason == reason
        page = client_party.ask(**WANTED)
        assert (page.status_code, reason.encode() in page.content) == (403, True)
        reopen_client(app=app, reason="It was the wrong one.", actor=UserFactory())
    review = ScopeReview.objects.get(app=app, status="Pending")
    decisions = {scope: ScopeDecision(granted=True) for scope in APP_SCOPES}
    decide_scopes(review=review, decisions=decisions, note="", actor=UserFactory())
    assert client_party.ask(**WANTED).status_code == 200


def test_rejected_app_of_a_developer_is_not_reopened_as_a_client() -> None:
    app = AppFactory(status="Rejected", granted_scopes="")
    with pytest.raises(NotFound):
        reopen_client(app=app, reason="Mistake.", actor=UserFactory())


def test_client_without_a_developer_gets_no_key_and_no_mcp_token(approved: App, user: User) -> None:
    with pytest.raises(NotFound):
        issue_api_key(app=approved, name="key", actor=user)
    with pytest.raises(NotFound):
        issue_mcp_token(app=approved, name="token", expires_at=timezone.now() + timedelta(days=1), actor=user)
    assert not ApiKey.objects.exists()


def test_document_is_read_again_when_it_is_stale_and_stays_as_reviewed_if_it_cannot_be(
    approved: App, client_party: Party, web: Web
) -> None:
    client_party.ask(**WANTED)
    assert len(web.calls) == 1
    assert ask_when_stale(web, client_party).status_code == 200
    assert len(web.calls) == 2
    expires = App.objects.get().cimd_expires_at
    assert expires is not None
    assert timedelta(minutes=9) < expires - timezone.now() <= timedelta(minutes=10)
    web.fails = True
    assert ask_when_stale(web, client_party).status_code == 200


def test_redirect_uri_removed_from_the_client_document_stops_at_once(approved: App, client_party: Party, web: Web) -> None:
    code = client_party.code(**WANTED)
    assert ask_when_stale(web, client_party, redirect_uris=["https://client.example/new"]).status_code == 400
    assert_error(client_party.exchange(code), "invalid_grant")
    assert App.objects.get().redirect_uris == ""


def test_client_document_that_is_changed_back_no_longer_waits_for_review(approved: App, client_party: Party, web: Web) -> None:
    ask_when_stale(web, client_party, redirect_uris=["https://client.example/new"])
    assert ask_when_stale(web, client_party, **GOOD).status_code == 200
    assert MetadataReview.objects.get().status == "Unchanged"


@pytest.fixture
def changed(approved: App, client_party: Party, web: Web) -> MetadataReview:
    ask_when_stale(web, client_party, client_name="Assistant 2", redirect_uris=[BACK, "https://client.example/new"])
    return MetadataReview.objects.get()


def test_changes_of_a_client_document_wait_for_a_review_and_apply_once_accepted(changed: MetadataReview, client_party: Party) -> None:
    assert changed.status == "Changed"
    assert client_party.ask(**WANTED, redirect_uri="https://client.example/new").status_code == 400
    page = client_party.ask(**WANTED)
    assert (page.status_code, b"Assistant 2" in page.content) == (200, False)
    decide_metadata(metadata_review=changed, accept=True, shown=changed.latest, reason="Moved.", actor=UserFactory())
    page = client_party.ask(**WANTED, redirect_uri="https://client.example/new")
    assert page.status_code == 200
    assert b"Assistant 2" in page.content


def test_change_of_a_client_document_waits_since_it_was_first_read(changed: MetadataReview, client_party: Party, web: Web) -> None:
    calls = len(web.calls)
    ask_when_stale(web, client_party)
    assert len(web.calls) == calls + 1
    assert MetadataReview.objects.get().read_at == changed.read_at


def test_refused_changes_of_a_client_document_do_not_wait_again_until_it_changes(
    changed: MetadataReview, client_party: Party, web: Web
) -> None:
    decide_metadata(metadata_review=changed, accept=False, shown=changed.latest, reason="Odd.", actor=UserFactory())
    ask_when_stale(web, client_party)
    assert client_party.ask(**WANTED, redirect_uri="https://client.example/new").status_code == 400
    assert MetadataReview.objects.get().status == "Unchanged"
    ask_when_stale(web, client_party, **GOOD)
    assert client_party.ask(**WANTED, redirect_uri="http://127.0.0.1/callback").status_code == 200


def test_client_document_changed_since_the_review_is_not_accepted(changed: MetadataReview, client_party: Party, web: Web) -> None:
    seen = changed.latest
    ask_when_stale(web, client_party, redirect_uris=[BACK, "https://client.example/evil"])
    with pytest.raises(InvalidTransition):
        decide_metadata(metadata_review=changed, accept=True, shown=seen, reason="Moved.", actor=UserFactory())
    assert MetadataReview.objects.get().reviewed["redirect_uris"] == GOOD["redirect_uris"]
