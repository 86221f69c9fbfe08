"""Connected apps and redirect URIs in the dashboard."""

from typing import Any

import pytest
from django.core import mail

from developers.authentication import principal_of_bearer
from developers.errors import TooManyRedirectUris
from developers.models import AccessToken, App, Consent, MetadataReview
from developers.services.clients import decide_metadata, set_redirect_uris
from developers.services.consents import revoke_consent, withdraw_consent
from developers.services.credentials import issue_mcp_token
from developers.services.scopes import narrow_scopes
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition, SelfReview
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope
from tests.callers import signed_in
from tests.developers.cases import in_days
from tests.eager import sent_mails
from tests.factories import AppFactory, UserFactory

from .parties import MCP, Party, assert_error, call

pytestmark = pytest.mark.database_full


INVALID_URIS = [
    "http://app.example/cb",
    "http://localhost.evil.example/cb",
    "http://localhost@evil.example/cb",
    "app://callback",
    "javascript:alert(1)",
    "/cb",
    "https:///cb",
    "https://user:secret@app.example/cb",
    "https://*.app.example/cb",
    "https://app.example/cb#here",
    "https://app.example:port/cb",
    "https://app.example/cb?code=1",
    "https://app.example/cb?iss=https://evil.example",
    "https://app.example\\@evil.example/",
    "https://äpp.example/cb",
    "https://app.example/" + "a" * 2000,
]


def test_invalid_or_too_many_redirect_uris_are_refused(app: App, subtests: pytest.Subtests) -> None:
    before = app.redirect_uris
    for uri in INVALID_URIS:
        with subtests.test(uri[:80]), pytest.raises(InvalidInput):
            set_redirect_uris(app=app, uris=["https://app.example/good", uri], actor=app.developer)
    with pytest.raises(TooManyRedirectUris):
        set_redirect_uris(app=app, uris=[f"https://app.example/{number}" for number in range(11)], actor=app.developer)
    app.refresh_from_db()
    assert app.redirect_uris == before


OLD, NEW = "https://app.example/old", "https://app.example/new"


def waiting(app: App) -> MetadataReview:
    """Return the redirect URIs of an app with scopes that wait for a reviewer."""
    App.objects.filter(pk=app.pk).update(redirect_uris=OLD)
    assert signed_in(app.developer).post(f"/dashboard/apps/{app.pk}/redirects", {"redirect_uris": NEW}).status_code == 302
    return MetadataReview.objects.get(app=app)


def test_new_redirect_of_an_app_with_scopes_waits_for_a_reviewer(app: App) -> None:
    document, reviewer = waiting(app), UserFactory(is_staff=True)
    entry = history_of(app).get(action="app.request_redirect_uris")
    assert (entry.actor, entry.data) == (app.developer, {"before": [OLD], "after": [NEW]})
    app.refresh_from_db()
    assert app.redirect_uris == OLD
    with pytest.raises(SelfReview):
        decide_metadata(metadata_review=document, accept=True, shown=document.latest, reason="Mine.", actor=app.developer)
    decide_metadata(metadata_review=document, accept=True, shown=document.latest, reason="It is their site.", actor=reviewer)
    app.refresh_from_db()
    assert app.redirect_uris == NEW
    assert [(sent.to, "It is their site." in str(sent.body)) for sent in sent_mails() if "redirect" in sent.subject] == [
        ([app.developer.email], True)
    ]


def test_redirects_of_an_app_stay_when_the_new_ones_are_refused_or_taken_back_and_are_removed_at_once(app: App) -> None:
    document = waiting(app)
    decide_metadata(
        metadata_review=document, accept=False, shown=document.latest, reason="Not their site.", actor=UserFactory(is_staff=True)
    )
    app.refresh_from_db()
    assert app.redirect_uris == OLD
    others = waiting(AppFactory())
    waiting(app)
    assert not set_redirect_uris(app=app, uris=[OLD], actor=app.developer)
    assert MetadataReview.objects.get(status="Changed") == others
    App.objects.filter(pk=app.pk).update(redirect_uris=f"{OLD} {NEW}")
    assert not set_redirect_uris(app=app, uris=[NEW], actor=app.developer)
    app.refresh_from_db()
    assert app.redirect_uris == NEW


def test_developer_edits_the_redirects_of_an_app_without_scopes_and_it_is_recorded(app: App) -> None:
    App.objects.filter(pk=app.pk).update(granted_scopes="")
    page = f"/dashboard/apps/{app.pk}/redirects"
    client = signed_in(app.developer)
    assert client.post(page, {"redirect_uris": "http://app.example/cb"}).status_code == 400
    good = "https://app.example/cb\r\n\r\nhttp://[::1]:0/cb\r\nhttps://app.example/cb"
    assert client.post(page, {"redirect_uris": good}).status_code == 302
    app.refresh_from_db()
    assert app.redirect_uris == "https://app.example/cb http://[::1]:0/cb"
    assert history_of(app)[0].action == "app.set_redirect_uris"
    assert b"http://[::1]:0/cb" in client.get(page).content
    assert client.post(page, {"redirect_uris": ""}).status_code == 302
    app.refresh_from_db()
    assert app.redirect_uris == ""


def test_connection_shows_what_the_app_may_do_now(party: Party) -> None:
    party.tokens()
    party.tokens(scope="catalog:read", resource=MCP)
    narrow_scopes(app=party.app, scopes={Scope.ACCOUNT_READ}, reason="Misused", actor=UserFactory())
    page = party.browser.get("/dashboard/connections").content.decode()
    assert page.count("<strong>Font finder</strong>") == 1
    assert ("Read the AI manifests" in page, "View your name" in page) == (True, False)


def test_user_disconnects_an_app_and_sees_that_it_was(party: Party, user: User) -> None:
    tokens = party.tokens()
    party.tokens(resource=MCP)
    page = f"/dashboard/connections/{party.app.pk}/withdraw"
    assert call(tokens["access_token"]).status_code == 200
    assert party.browser.post(page).status_code == 302
    assert not AccessToken.objects.filter(user=user, revoked_at=None).exists()
    assert b"Disconnected (2)" in party.browser.get("/dashboard/connections").content
    assert party.browser.post(page).status_code == 404
    for consent in Consent.objects.filter(user=user):
        assert [entry.action for entry in history_of(consent)] == ["consent.withdraw", "consent.give"]


def test_disconnecting_ends_codes_and_tokens_of_that_app_for_that_user_only(party: Party, user: User) -> None:
    other_app = AppFactory(redirect_uris=party.app.redirect_uris, granted_scopes=party.app.granted_scopes)
    parties = [party, Party(other_app, party.browser), Party(party.app, signed_in(UserFactory()))]
    tokens, codes = [each.tokens() for each in parties], [each.code() for each in parties]
    for _ in range(2):
        withdraw_consent(user=user, app=party.app, actor=user)
    assert AuditEntry.objects.get(action="consent.withdraw").data["tokens"] == 1
    assert [call(each["access_token"]).status_code for each in tokens] == [401, 200, 200]
    # A new consent brings nothing of the old one back.
    party.decide()
    assert Consent.objects.filter(user=user, app=party.app).count() == 2
    assert [who.refresh(each["refresh_token"]).status_code for who, each in zip(parties, tokens, strict=True)] == [400, 200, 200]
    assert [who.exchange(code).status_code for who, code in zip(parties, codes, strict=True)] == [400, 200, 200]


def test_user_is_mailed_about_a_new_consent_and_about_added_scopes(
    party: Party, user: User, django_capture_on_commit_callbacks: Any
) -> None:
    User.objects.filter(pk=party.app.developer.pk).update(name="")
    with django_capture_on_commit_callbacks(execute=True):
        for scope in ("catalog:read", "catalog:read", "catalog:read account:read", "account:read"):
            party.decide(scope=scope)
        party.decide("deny", scope="wallet:spend")
        party.decide(scope="catalog:read", resource=MCP)
        withdraw_consent(user=user, app=party.app, actor=user)
        party.decide()
    connected = ([user.email], "Font finder is connected to your account")
    added = ([user.email], "Font finder has more access to your account")
    assert [(message.to, message.subject) for message in mail.outbox] == [connected, added, connected, connected]
    assert ["Read the AI manifests" in message.body for message in mail.outbox] == [True, False, True, True]
    assert not [message for message in mail.outbox if party.app.developer.email in message.body]


def test_consent_that_staff_end_with_a_reason_ends_its_tokens_once_and_the_user_is_told(party: Party, user: User) -> None:
    tokens, admin = party.tokens(), UserFactory()
    given = Consent.objects.get()
    with pytest.raises(InvalidInput):
        revoke_consent(consent=given, reason=" ", actor=admin)
    assert call(tokens["access_token"]).status_code == 200
    revoke_consent(consent=given, reason="It sold addresses", actor=admin)
    assert call(tokens["access_token"]).status_code == 401
    assert_error(party.refresh(tokens["refresh_token"]), "invalid_grant")
    assert [message.to for message in sent_mails() if "It sold addresses" in str(message.body)] == [[user.email]]
    entry = history_of(given)[0]
    assert (entry.action, entry.actor, entry.reason, entry.data["tokens"]) == ("consent.withdraw", admin, "It sold addresses", 1)
    with pytest.raises(InvalidTransition):
        revoke_consent(consent=given, reason="Again", actor=admin)


def test_mcp_token_made_by_hand_outlives_the_developers_own_connection(app: App) -> None:
    App.objects.filter(pk=app.pk).update(granted_scopes="account:read")
    app.refresh_from_db()
    own = Party(app, signed_in(app.developer))
    tokens = own.tokens(scope="account:read")
    _, secret = issue_mcp_token(app=app, name="desk", expires_at=in_days(1), actor=app.developer)
    withdraw_consent(user=app.developer, app=app, actor=app.developer)
    assert call(tokens["access_token"]).status_code == 401
    assert principal_of_bearer(f"Bearer {secret}").app == app
