"""Two at once: one stands, the other is told. Sequential double decisions are tried elsewhere, on both databases."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from developers import bounds as developers_bounds
from developers.errors import (
    ApplicationOpen,
    LastSpendingLimit,
    ScopeReviewOpen,
    TooManyApps,
    TooManyClientsWaiting,
    TooManyKeys,
    TooManyTokens,
)
from developers.event_types import EventType
from developers.models import (
    AccessToken,
    ApiKey,
    App,
    ApplicationMessage,
    AppLogo,
    AppScope,
    Consent,
    DeveloperApplication,
    DormancyNotice,
    FirstPartyToken,
    MetadataReview,
    ScopeReview,
    SpendingLimit,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from developers.services import applications, apps, credentials, scopes
from developers.services.clients import submit_document
from developers.services.first_party import issue_page_token
from developers.services.rotation import rotate_api_key, rotate_token
from developers.services.spending import LimitValues, remove_spending_limit, set_app_spending_limit, set_spending_limit
from developers.services.webhooks import create_endpoint
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidTransition, Problem
from marketplace.core.models import AuditEntry
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from marketplace.core.transitions import lock
from tests.callers import signed_in
from tests.factories import AppFactory, UserFactory
from tests.races import one_stands, refusals_at_once, until_someone_waits
from tests.waiting import PATIENCE_SECONDS

from .cases import in_days, open_review, session_of
from .oauth.documents import app_of_document

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]

ASKED = {Scope.CATALOG_READ: "To read", Scope.WALLET_SPEND: "To buy"}
GRANT = {scope: scopes.ScopeDecision(granted=True) for scope in ASKED}
REFUSE = {scope: scopes.ScopeDecision(granted=False, note="No") for scope in ASKED}


def test_one_of_concurrent_applications_of_a_user_succeeds() -> None:
    user = UserFactory()
    submit = lambda: applications.submit_application(user=user, what="x", why="y", actor=user)  # noqa: E731 - the same call eight times
    outcomes = refusals_at_once(*[submit] * 8)
    assert one_stands(outcomes, ApplicationOpen), outcomes
    assert DeveloperApplication.objects.filter(user=user).count() == 1


def test_one_of_opposite_concurrent_decisions_on_an_application_succeeds(application: DeveloperApplication) -> None:
    admins = [UserFactory(), UserFactory()]
    outcomes = refusals_at_once(
        lambda: applications.approve_application(application=application, reason="Yes", actor=admins[0]),
        lambda: applications.reject_application(application=application, reason="No", actor=admins[1]),
    )
    assert one_stands(outcomes, InvalidTransition), outcomes
    application.refresh_from_db()
    assert application.decided_by == admins[outcomes.index(None)]
    assert history_of(application).count() == 2


def test_one_of_opposite_concurrent_decisions_on_scopes_succeeds(developer: User) -> None:
    app = apps.create_app(user=developer, name="Picker", purpose="Picks", scopes=ASKED, actor=developer)
    review, admins = open_review(app), [UserFactory(), UserFactory()]
    outcomes = refusals_at_once(
        lambda: scopes.decide_scopes(review=review, decisions=GRANT, note="Yes", actor=admins[0]),
        lambda: scopes.decide_scopes(review=review, decisions=REFUSE, note="No", actor=admins[1]),
    )
    assert one_stands(outcomes, InvalidTransition), outcomes
    app.refresh_from_db()
    assert app.status == ("Approved" if outcomes[0] is None else "Rejected")
    assert app.scope_reviews.get().decided_by == admins[outcomes.index(None)]
    assert AuditEntry.objects.filter(action="scope_review.decide").count() == 1


def test_one_of_concurrent_requests_for_scopes_succeeds(developer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    request = lambda: scopes.request_scopes(app=app, scopes={Scope.LIBRARY_READ: "More"}, actor=developer)  # noqa: E731 - the same call six times
    outcomes = refusals_at_once(*[request] * 6)
    assert one_stands(outcomes, ScopeReviewOpen), outcomes
    assert ScopeReview.objects.filter(app=app).count() == 1


def test_no_app_stays_approved_when_the_approval_is_withdrawn_while_it_is_created_or_reinstated(developer: User) -> None:
    admin = UserFactory()
    application = developer.developer_applications.get()
    pending = apps.create_app(user=developer, name="Pending", purpose="Picks", scopes=ASKED, actor=developer)
    review, suspended = open_review(pending), AppFactory(user=developer, status="Suspended")
    refusals_at_once(
        lambda: applications.withdraw_approval(application=application, reason="Abuse", actor=admin),
        lambda: scopes.decide_scopes(review=review, decisions=GRANT, note="Yes", actor=admin),
        lambda: apps.reinstate_app(app=suspended, reason="Fine", actor=admin),
        lambda: apps.create_app(user=developer, name="New", purpose="Picks", scopes=ASKED, actor=developer),
    )
    application.refresh_from_db()
    assert application.status == "Withdrawn"
    assert not App.objects.filter(user=developer, status="Approved").exists()


def test_concurrent_narrowings_of_scopes_both_apply() -> None:
    app, admin = AppFactory(), UserFactory()
    outcomes = refusals_at_once(
        lambda: scopes.narrow_scopes(app=app, scopes={Scope.CATALOG_READ}, reason="No", actor=admin),
        lambda: scopes.narrow_scopes(app=app, scopes={Scope.WALLET_SPEND}, reason="No", actor=admin),
    )
    assert outcomes == [None, None]
    app.refresh_from_db()
    assert not app.scopes & {Scope.CATALOG_READ, Scope.WALLET_SPEND}


@pytest.mark.parametrize("what", ["keys", "tokens", "mcp tokens", "apps"])
def test_concurrent_keys_tokens_and_apps_do_not_exceed_their_limit(what: str, developer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("MAX_ACTIVE_KEYS", "MAX_ACTIVE_MCP_TOKENS", "MAX_TOKENS_WITHOUT_APP", "MAX_APPS"):
        monkeypatch.setattr(developers_bounds, bound, 1)
    app = AppFactory()
    makers: dict[str, tuple[Callable[[], Any], type[Problem]]] = {
        "keys": (lambda: credentials.issue_api_key(app=app, name="k", actor=app.user), TooManyKeys),
        "tokens": (
            lambda: credentials.issue_token_without_app(
                user=developer, name="t", scopes=frozenset({Scope.ACCOUNT_READ}), expires_at=in_days(1), actor=developer
            ),
            TooManyTokens,
        ),
        "mcp tokens": (
            lambda: credentials.issue_mcp_token(app=app, name="m", expires_at=in_days(1), actor=app.developer, password_confirmed=True),
            TooManyTokens,
        ),
        "apps": (lambda: apps.create_app(user=developer, name="n", purpose="p", scopes=ASKED, actor=developer), TooManyApps),
    }
    make, refusal = makers[what]
    outcomes = refusals_at_once(*[make] * 4)
    assert one_stands(outcomes, refusal), outcomes


def test_concurrent_first_party_tokens_do_not_exceed_their_limit(developer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(developers_bounds, "MAX_FIRST_PARTY_TOKENS", 2)
    key = session_of(signed_in(developer))
    ask = partial(issue_page_token, session_key=key, scopes=frozenset({Scope.ACCOUNT_READ}), actor=developer)
    assert refusals_at_once(*[ask] * 5) == [None] * 5
    assert FirstPartyToken.objects.filter(user=developer).count() == 2


def test_clients_fetched_at_once_do_not_exceed_the_limit_of_pending_ones() -> None:
    user = UserFactory()

    def meet(number: int) -> App:
        # The host with a dot at its end is the same host.
        return submit_document(client=app_of_document(f"https://client.example{'.' * (number % 2)}/{number}.json"), actor=user)

    for number in range(developers_bounds.MAX_WAITING_CLIENTS_OF_HOST - 1):
        meet(number)
    assert one_stands(refusals_at_once(*(partial(meet, 10 + number) for number in range(4))), TooManyClientsWaiting)
    assert App.objects.count() == developers_bounds.MAX_WAITING_CLIENTS_OF_HOST


def test_client_fetched_concurrently_is_one_pending_app() -> None:
    user, client = UserFactory(), app_of_document()
    assert refusals_at_once(*[partial(submit_document, client=client, actor=user)] * 4) == [None] * 4
    assert ScopeReview.objects.filter(app=client).count() == 1


def test_concurrently_set_limits_of_one_app_are_one_row() -> None:
    app = AppFactory()
    owners = partial(set_spending_limit, owner=app.user, spender=app, actor=app.user)
    of_staff = partial(set_app_spending_limit, app=app, reason="Careful", actor=UserFactory())
    limits = [LimitValues(Currency.USD, total_minor=number + 1) for number in range(4)]
    outcomes = refusals_at_once(*[partial(make, limit_values=limit_values) for make in (owners, of_staff) for limit_values in limits])
    assert set(outcomes) == {None}, outcomes
    assert SpendingLimit.objects.filter(owner=app.user).count() == SpendingLimit.objects.filter(owner=None).count() == 1


def test_last_two_limits_of_a_token_are_not_both_removed() -> None:
    user = UserFactory()
    credentials.issue_token_without_app(
        user=user,
        name="agent",
        scopes=frozenset({Scope.WALLET_SPEND}),
        expires_at=in_days(1),
        actor=user,
        password_confirmed=True,
        limits=[LimitValues(Currency.USD, total_minor=1), LimitValues(Currency.INR, total_minor=1)],
    )
    outcomes = refusals_at_once(
        *[lambda limit=limit: remove_spending_limit(limit=limit, actor=user) for limit in SpendingLimit.objects.all()]
    )
    assert one_stands(outcomes, LastSpendingLimit), outcomes
    assert SpendingLimit.objects.count() == 1


def test_key_without_overlap_has_one_successor() -> None:
    app = AppFactory()
    key, _ = credentials.issue_api_key(app=app, name="server", actor=app.user)
    outcomes = refusals_at_once(*[lambda: rotate_api_key(key=key, overlap=timedelta(0), actor=app.user)] * 4)
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert ApiKey.objects.count() == 2


def rotated_token(user: User) -> tuple[AccessToken, partial[Any]]:
    scopes_of_token = frozenset({Scope.ACCOUNT_READ})
    token, _ = credentials.issue_token_without_app(user=user, name="script", scopes=scopes_of_token, expires_at=in_days(7), actor=user)
    return token, partial(rotate_token, token=token)


def rotated_key(user: User) -> tuple[ApiKey, partial[Any]]:
    key, _ = credentials.issue_api_key(app=AppFactory(user=user), name="server", actor=user)
    return key, partial(rotate_api_key, key=key)


@pytest.mark.parametrize("rotated", [rotated_token, rotated_key])
def test_rotation_waits_for_the_user_before_it_locks_the_credential(rotated: Callable[[User], tuple[Model, partial[Any]]]) -> None:
    user = UserFactory()
    credential, rotate = rotated(user)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock(User.objects.all(), pk=user.pk)
            waiting = pool.submit(refusals_at_once, partial(rotate, overlap=timedelta(0), actor=user))
            until_someone_waits()
            # A deletion of the account takes it next.
            assert type(credential)._default_manager.select_for_update(nowait=True).get() == credential
        assert waiting.result(PATIENCE_SECONDS) == [None]


def test_deletion_of_an_account_does_not_wait_for_an_app_that_it_was_connected_to() -> None:
    app, user, now = AppFactory(), UserFactory(), timezone.now()
    Consent.objects.create(user=user, app=app, audience="api", scope="account:read", given_at=now, renewed_at=now)
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        lock(App.objects.all(), pk=app.pk)
        waiting = pool.submit(refusals_at_once, partial(delete_account, user=user, reason="Asked for", actor=None))
        assert waiting.result(PATIENCE_SECONDS) == [None]
    assert not Consent.objects.exists()


@pytest.mark.parametrize(
    ("held", "following"),
    [
        (DeveloperApplication, [App, ApplicationMessage]),
        (App, [AppLogo, AppScope, MetadataReview, ScopeReview]),
        (ApiKey, [App, DormancyNotice]),
    ],
)
def test_deletion_of_a_developer_takes_locks_in_the_order_of_other_services(
    developer: User, held: type[Model], following: list[type[Model]]
) -> None:
    app = apps.create_app(user=developer, name="Picker", purpose="Picks", scopes=ASKED, actor=developer)
    apps.set_app_logo(app=app, image=b"jpeg", actor=developer)
    MetadataReview.objects.create(app=app, reviewed={}, latest={})
    ApplicationMessage.objects.create(application=DeveloperApplication.objects.get(), author=developer, text="More about it")
    DormancyNotice.objects.create(key=credentials.issue_api_key(app=AppFactory(user=developer), name="server", actor=developer)[0])
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock(held._default_manager.all())
            waiting = pool.submit(refusals_at_once, partial(delete_account, user=developer, reason="Asked for", actor=None))
            until_someone_waits()
            # Whoever has it takes these next: with the locks in another order both would wait.
            for model in following:
                assert list(model._default_manager.select_for_update(nowait=True))
        assert waiting.result(PATIENCE_SECONDS) == [None]
    assert not DeveloperApplication.objects.exists()


def test_deletion_of_an_account_locks_webhooks_before_their_deliveries() -> None:
    app = AppFactory()
    url, events = "https://app.example/hook", [EventType.ASSET_PUBLISHED]
    endpoint, _ = create_endpoint(app=app, url=url, events=events, actor=app.developer)
    event = WebhookEvent.objects.create(type=EventType.ASSET_PUBLISHED, data={}, subject="x")
    delivery = WebhookDelivery.objects.create(event=event, endpoint=endpoint)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock(WebhookEndpoint.objects.all(), pk=endpoint.pk)
            waiting = pool.submit(refusals_at_once, partial(delete_account, user=app.developer, reason="Asked for", actor=None))
            until_someone_waits()
            # The record of an attempt takes it next.
            assert WebhookDelivery.objects.select_for_update(nowait=True).get() == delivery
        assert waiting.result(PATIENCE_SECONDS) == [None]
