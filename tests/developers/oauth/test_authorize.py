"""The consent page: what it refuses, what it shows, what it records."""

from typing import Any
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from developers.models import AccessToken, App, Consent, Grant
from developers.services.apps import suspend_app
from developers.services.scopes import narrow_scopes
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes
from tests.factories import UserFactory
from tests.web.markup import faults_of

from .parties import API, BASE, CALLBACK, LOOPBACK, MCP, Party, assert_error, assert_sent_back, move, query_of

FOREIGN_REDIRECTS = [
    "https://evil.example/callback?tenant=1",
    "https://app.example@evil.example/callback?tenant=1",
    "https://evil.example\\@app.example/callback?tenant=1",
    "https://app.example/callback",
    "https://app.example/callback?tenant=1&x=2",
    "https://app.example/callback/../evil?tenant=1",
    "https://app.example/callback?tenant=1#x",
    "https://app.example:8443/callback?tenant=1",
    "https://APP.example/callback?tenant=1",
    "http://app.example/callback?tenant=1",
    "http://127.0.0.1/done/more",
    "http://127.0.0.1:99999/done",
    "http://127.0.0.1:80@evil.example/done",
    "http://localhost/done",
    "http://[::1]/done",
    "javascript:alert(1)",
    "",
]


def test_redirect_that_is_not_registered_is_never_followed(party: Party, subtests: pytest.Subtests) -> None:
    # Without one, an app with several has none.
    for uri in (*FOREIGN_REDIRECTS, None):
        with subtests.test(uri):
            response = party.ask(redirect_uri=uri)
            assert (response.status_code, "Location" in response, response["X-Frame-Options"]) == (400, False, "DENY")


def test_unknown_or_suspended_app_is_refused_without_a_redirect(party: Party) -> None:
    for client_id in (None, "", "nobody", "a\x00b", "https://evil.example/client.json"):
        assert party.ask(client_id=client_id).status_code == 400, client_id
    assert faults_of(party.ask(client_id="nobody").content) == []
    App.objects.filter(pk=party.app.pk).update(status="Suspended")
    assert party.ask().status_code == 400


def test_parameter_without_a_value_counts_as_left_out_and_only_the_resource_may_be_repeated(party: Party) -> None:
    assert party.ask(resource=["", API, ""], response_mode="").status_code == 200
    assert_sent_back(party.ask(code_challenge=""), "invalid_request")
    assert party.ask(resource=[MCP.replace("http://testserver", "HTTP://TestServer"), MCP]).status_code == 200
    for name in ("state", "client_id", "redirect_uri", "x"):
        value = party.parameters().get(name, "query")
        assert party.ask(**{name: [value, value]}).status_code == 400, name


def test_long_state_is_returned_and_an_overlong_one_is_a_414(party: Party) -> None:
    assert query_of(party.decide(state="s" * 4000)["Location"])["state"] == "s" * 4000
    assert party.ask(state="s" * 9000).status_code == 414


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge": "short"}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"response_mode": "fragment"}, "invalid_request"),
    ({"scope": "library:read"}, "invalid_scope"),
    ({"scope": "catalog:read vendor:manage"}, "invalid_scope"),
    ({"resource": "https://evil.example"}, "invalid_target"),
    ({"resource": f"{API}/"}, "invalid_target"),
    ({"resource": [API, "https://evil.example"]}, "invalid_target"),
    ({"resource": [API, MCP]}, "invalid_target"),
    ({"resource": MCP.replace("/mcp", "/MCP")}, "invalid_target"),
    ({"resource": f"{MCP}#part"}, "invalid_target"),
]


def test_faulty_request_goes_back_to_the_app_with_the_issuer(party: Party, subtests: pytest.Subtests) -> None:
    for changes, error in FAULTS:
        with subtests.test(str(changes)):
            assert_sent_back(party.ask(**changes), error)
    assert not Grant.objects.exists()


def test_client_that_requests_all_scopes_gets_those_granted_to_its_app(party: Party) -> None:
    tokens = party.tokens(scope=format_scopes(APP_SCOPES))
    assert tokens["scope"] == format_scopes(party.app.scopes)
    assert AccessToken.objects.get().scopes == party.app.scopes


def test_authorization_of_an_app_without_scopes_is_an_error(party: Party) -> None:
    App.objects.filter(pk=party.app.pk).update(granted_scopes="")
    assert_sent_back(party.ask(scope=None), "invalid_scope")


def test_visitor_signs_in_first_and_comes_back(party: Party) -> None:
    party.browser.logout()
    response = party.ask()
    assert response.status_code == 302
    assert query_of(response["Location"])["next"].startswith("/oauth/authorize?response_type=code&client_id=")


def test_consent_without_its_token_is_refused(party: Party, user: User) -> None:
    checked = Client(enforce_csrf_checks=True)
    checked.force_login(user)
    address = party.ask().wsgi_request.get_full_path()
    assert checked.post(address, {"decision": "allow", "shown": "catalog:read account:read"}).status_code == 403
    assert not Consent.objects.exists()


def test_consent_page_is_shown_every_time_whatever_the_prompt_parameter(party: Party) -> None:
    party.tokens()
    for prompt in ({"approval_prompt": "auto"}, {"prompt": "none"}, {}):
        response = party.ask(**prompt)
        assert (response.status_code, "Location" in response) == (200, False)
    assert not Grant.objects.filter(used_at=None).exists()


def test_decision_in_the_query_string_gives_no_consent(party: Party) -> None:
    assert party.ask(decision="allow", shown="catalog:read account:read").status_code == 200
    assert not Grant.objects.exists()


def test_page_names_app_developer_scopes_audience_and_host_escaped_and_isolated(party: Party) -> None:
    # Neither markup nor a script from right to left reaches into the words around it.
    name = "<img src=x onerror=alert(1)> \u05e4\u05d5\u05e0\u05d8"
    App.objects.filter(pk=party.app.pk).update(name=name)
    User.objects.filter(pk=party.app.developer.pk).update(name="Ada <b>")
    page = BeautifulSoup(party.ask(scope="account:read wallet:spend", resource=MCP).content, "html.parser")
    assert page.find("img") is None
    assert [tag.get_text() for tag in page.select("h1 bdi, p strong bdi")] == [name, name]
    text = " ".join(page.get_text(" ").split())
    for words in (
        "Ada <b>",
        "View your name, email address, balance, orders, invoices and billing details",
        "It can spend your credit",
        "the tools for AI assistants",
        "app.example",
    ):
        assert words in text
    assert "Read the AI manifests" not in text


def test_consent_page_does_not_show_the_email_address_of_the_developer(party: Party) -> None:
    User.objects.filter(pk=party.app.developer.pk).update(name="")
    content = party.ask().content.decode()
    assert party.app.developer.email not in content
    assert "a developer who gives no name" in content


def test_faulty_authorization_after_a_sign_in_shows_a_page_with_a_link_back(party: Party) -> None:
    address = "/oauth/authorize?" + urlencode(party.parameters(scope="everything", state='"><b>'))
    assert party.browser.get(address, headers={"sec-fetch-site": "cross-site"}).status_code == 303
    response = party.browser.get(address, headers={"sec-fetch-site": "same-origin"})
    assert (response.status_code, "Location" in response) == (400, False)
    link = BeautifulSoup(response.content, "html.parser").select_one("main a")
    assert link is not None
    assert str(link["href"]).startswith(f"{CALLBACK}&error=invalid_scope")
    assert query_of(str(link["href"]))["state"] == '"><b>'
    assert response["X-Frame-Options"] == "DENY"


def test_consent_page_cannot_be_framed_or_cached(party: Party) -> None:
    response = party.ask()
    assert response["X-Frame-Options"] == "DENY"
    policy = response["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'self'" in policy
    # Where the app sends its users on, we cannot know.
    assert "form-action" not in policy
    assert "no-store" in response["Cache-Control"]


def test_denied_consent_redirects_with_an_error_and_saves_nothing(party: Party) -> None:
    assert_sent_back(party.decide("deny"), "access_denied")
    assert not Consent.objects.exists()
    assert not Grant.objects.exists()


def test_consent_is_recorded_and_the_code_is_hashed(party: Party, user: User) -> None:
    response = party.decide()
    assert response.status_code == 303
    assert response["Location"].startswith(f"{CALLBACK}&")
    answer = query_of(response["Location"])
    assert (answer["state"], answer["iss"], answer["tenant"]) == ("s t&te", BASE, "1")
    consent = Consent.objects.get()
    assert (consent.user, consent.app, consent.audience, consent.scope) == (user, party.app, "api", "catalog:read account:read")
    assert [entry.action for entry in history_of(consent)] == ["consent.give"]
    assert answer["code"] not in str(list(Grant.objects.values()))


def test_second_consent_adds_scopes_and_another_audience_is_a_separate_consent(party: Party) -> None:
    party.decide(scope="catalog:read")
    party.decide(scope="account:read")
    party.decide(scope="catalog:read", resource=MCP)
    assert list(Consent.objects.order_by("id").values_list("audience", "scope")) == [
        ("api", "catalog:read account:read"),
        ("mcp", "catalog:read"),
    ]


def test_consent_is_asked_again_if_the_scopes_changed_meanwhile(party: Party) -> None:
    address = party.ask(scope=None).wsgi_request.get_full_path()
    narrow_scopes(app=party.app, scopes={Scope.WALLET_SPEND}, reason="Misused", actor=UserFactory())
    response = party.browser.post(address, {"decision": "allow", "shown": "catalog:read account:read wallet:spend"})
    assert response.status_code == 200
    assert b"changed while this page was open" in response.content
    assert not Consent.objects.exists()


def test_app_suspended_or_redirect_uri_removed_during_the_consent_gets_no_code(party: Party) -> None:
    address = party.ask().wsgi_request.get_full_path()
    allowed = {"decision": "allow", "shown": "catalog:read account:read"}
    move(party.app, LOOPBACK)
    assert party.browser.post(address, allowed).status_code == 400
    move(party.app, CALLBACK)
    suspend_app(app=party.app, reason="Abuse", actor=UserFactory())
    assert party.browser.post(address, allowed).status_code == 400
    assert not Grant.objects.exists()


def test_program_on_the_users_computer_may_take_any_port_but_exchanges_with_that_of_its_request(app: App, browser: Client) -> None:
    party = Party(app, browser, redirect_uri="http://127.0.0.1:49152/done")
    assert b"a program on this computer" in party.ask().content
    assert_error(party.exchange(party.code(), redirect_uri="http://127.0.0.1:49153/done"), "invalid_grant")
    assert not AccessToken.objects.exists()
    assert set(party.tokens()) == {"access_token", "refresh_token", "expires_in", "token_type", "scope"}


def test_malformed_query_of_the_authorization_is_a_400(party: Party) -> None:
    for query in ("client_id=%zz", "%", "client_id=%ff", "=&&=", "client_id=" + "a" * 5000):
        assert party.browser.get(f"/oauth/authorize?{query}").status_code == 400
