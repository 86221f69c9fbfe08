"""A sandbox: what it says, approves and keeps, what it refuses, and how it is emptied."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from bs4 import BeautifulSoup
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.test import Client

from developers.models import App, AppScope, ScopeReview
from developers.services.applications import submit_application
from developers.services.apps import create_app
from developers.services.clients import set_redirect_uris
from developers.services.credentials import issue_api_key
from developers.services.scopes import request_scopes
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.scopes import Scope
from marketplace.demo.management.commands import sandbox_reset
from marketplace.operations.installation import record_installation, refuse_other_database
from marketplace.operations.models import Installation
from tests.callers import said
from tests.factories import AppFactory, UserFactory
from tests.mcp.speaking import Speaker, mcp_token
from tests.shop import funded
from tests.wallet.approval_cases import PRICE, bounded, requested_approval
from tests.wallet.top_up_cases import requested_top_up
from wallet.models import TopUp
from wallet.providers import SimulatedProvider, has_top_ups_of_real_providers

from ..servers.migrated import fill_postgres
from ..servers.postgres import postgres
from ..servers.process import bare_environment, call_in

REASON = {Scope.LIBRARY_READ: "It lists them."}
PAGES = ["/", "/dashboard", "/admin/", "/no-such-page"]


@pytest.fixture
def sandbox(settings: Any) -> Any:
    settings.SANDBOX = True
    return settings


def banner(client: Client, page: str) -> bool:
    return BeautifulSoup(client.get(page).content, "html.parser").find("aside", {"aria-label": "Sandbox"}) is not None


@pytest.mark.slow
@pytest.mark.django_db
def test_every_page_of_a_sandbox_says_so_and_no_other(reviewer: User, browse: Callable[..., Client], settings: Any) -> None:
    client = browse(reviewer)
    assert [page for page in PAGES if banner(client, page)] == []
    settings.SANDBOX = True
    assert [page for page in PAGES if not banner(client, page)] == []


@pytest.mark.django_db
def test_application_and_scopes_are_approved_at_once(sandbox: Any) -> None:
    user = UserFactory()
    application = submit_application(user=user, what="A picker", why="Fonts", actor=user)
    assert (application.status, application.decided_by) == ("Approved", None)
    app = create_app(user=user, name="Picker", purpose="Picks", scopes=REASON, actor=user)
    assert App.objects.get().scopes == set(REASON)
    assert not ScopeReview.objects.filter(status="Pending").exists()
    issue_api_key(app=app, name="laptop", actor=user)
    request_scopes(app=app, scopes={Scope.WALLET_SPEND: "It buys."}, actor=user)
    assert App.objects.get().scopes == {*REASON, Scope.WALLET_SPEND}
    assert not AppScope.objects.exclude(granted=True).exists()
    assert [entry.actor for entry in history_of(application) if entry.action == "application.approve"] == [None]


@pytest.mark.django_db
def test_pages_of_a_sandbox_say_that_it_was_approved_and_nothing_of_a_review(sandbox: Any, browse: Callable[..., Client]) -> None:
    client = browse(UserFactory())
    applied = client.post("/dashboard/developer", {"what": "A picker", "why": "Fonts"}, follow=True).content.decode()
    assert "Your application was approved." in applied
    assert "reviewed by a person" not in applied
    asked = {"name": "Picker", "purpose": "Picks", "scopes": ["library:read"], "reason_library_read": "It lists them."}
    assert "Picker was approved." in client.post("/dashboard/apps/new", asked, follow=True).content.decode()
    app = f"/dashboard/apps/{App.objects.get().pk}"
    more = {"scopes": ["wallet:spend"], "reason_wallet_spend": "It buys."}
    assert "The scopes were granted." in client.post(f"{app}/scopes", more, follow=True).content.decode()
    assert "A reviewer decides" not in client.get(f"{app}/redirects").content.decode()


@pytest.mark.django_db
def test_mcp_instructions_of_a_sandbox_say_that_it_is_one(sandbox: Any) -> None:
    _, secret, _ = mcp_token()
    assert "sandbox" in Speaker(secret).result("server/discover")["instructions"]


@pytest.mark.django_db
def test_redirect_uris_of_a_sandbox_app_with_scopes_need_no_review(sandbox: Any) -> None:
    app = AppFactory()
    assert not set_redirect_uris(app=app, uris=["https://app.example/back"], actor=app.developer)
    app.refresh_from_db()
    assert app.redirect_uris == "https://app.example/back"


@pytest.mark.django_db
def test_database_with_real_payments_is_not_emptied(sandbox: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Installation.objects.all().delete()
    requested_top_up()
    assert not has_top_ups_of_real_providers()
    # A payment cannot be changed, so the provider is: it is one of another then.
    monkeypatch.setattr(SimulatedProvider, "name", "another")
    with pytest.raises(CommandError, match="top-ups of a real provider"):
        call_command("sandbox_reset", yes=True)
    assert TopUp.objects.exists()


@pytest.mark.slow
@pytest.mark.django_db
def test_database_of_a_marketplace_is_neither_emptied_nor_used_by_a_sandbox(settings: Any) -> None:
    Installation.objects.update_or_create(pk=1, defaults={"sandbox": False})
    refuse_other_database()
    settings.SANDBOX = settings.CHECK_DATABASE_AT_START = True
    for command in (["sandbox_reset", "--yes"], ["check", "--database", "default"], ["worker", "--drain"]):
        with pytest.raises(SystemCheckError, match=r"operations\.E001"):
            call_command(*command)
    with pytest.raises(SystemCheckError, match=r"operations\.E001"):
        call_command("migrate", skip_checks=False)
    with pytest.raises(ImproperlyConfigured, match="SANDBOX"):
        refuse_other_database()
    assert Installation.objects.exists()


@pytest.mark.slow
@pytest.mark.django_db
def test_database_of_a_sandbox_is_not_used_by_a_marketplace(settings: Any) -> None:
    Installation.objects.update_or_create(pk=1, defaults={"sandbox": True})
    settings.CHECK_DATABASE_AT_START = True
    with pytest.raises(SystemCheckError, match=r"operations\.E001"):
        call_command("check", database=["default"])
    with pytest.raises(ImproperlyConfigured, match="SANDBOX"):
        refuse_other_database()
    settings.SANDBOX = True
    call_command("check", database=["default"])
    refuse_other_database()


@pytest.mark.django_db
def test_first_migration_records_whether_the_database_is_a_sandbox(sandbox: Any) -> None:
    Installation.objects.all().delete()
    refuse_other_database()
    for is_sandbox in (True, False):
        sandbox.SANDBOX = is_sandbox
        record_installation()
        assert Installation.objects.get().sandbox


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Mock:
    found = Mock(return_value=({}, ""))
    monkeypatch.setattr(sandbox_reset, "make_content", found)
    return found


@pytest.mark.django_db
def test_filling_an_empty_sandbox_deletes_no_files(sandbox: Any, media: Path, make: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = media / "deliverables" / "0192f0c1-0000-7000-8000-000000000000"
    kept.parent.mkdir(parents=True)
    kept.write_text("of another database", encoding="utf-8")
    monkeypatch.setattr(sandbox_reset, "clear", Mock())
    monkeypatch.setattr(connection.introspection, "table_names", list)
    said("sandbox_reset", if_empty=True)
    assert make.called
    assert kept.read_text(encoding="utf-8") == "of another database"


@pytest.mark.django_db
def test_sandbox_whose_first_run_was_interrupted_is_filled(sandbox: Any, make: Mock) -> None:
    Installation.objects.update_or_create(pk=1, defaults={"sandbox": True})
    said("sandbox_reset", if_empty=True)
    assert make.called


@pytest.mark.django_db
def test_sandbox_with_content_is_neither_filled_again_nor_emptied_unless_somebody_confirms(
    sandbox: Any, make: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear = Mock()
    monkeypatch.setattr(sandbox_reset, "clear", clear)
    Installation.objects.update_or_create(pk=1, defaults={"sandbox": True})
    requested_approval(bounded(funded(inr=10 * PRICE)))
    assert "content already" in said("sandbox_reset", if_empty=True)
    monkeypatch.setattr("builtins.input", Mock(side_effect=EOFError))
    with pytest.raises(CommandError, match="Nothing was deleted"):
        call_command("sandbox_reset")
    assert (make.called, clear.called) == (False, False)


@pytest.mark.django_db
def test_sandbox_reset_outside_of_a_sandbox_is_refused() -> None:
    user = UserFactory()
    with pytest.raises(CommandError, match="not a sandbox"):
        call_command("sandbox_reset", yes=True)
    assert User.objects.filter(pk=user.pk).exists()


@pytest.mark.full
def test_sandbox_reset_restores_the_demo_and_deletes_all_else(tmp_path: Path) -> None:
    left = [tmp_path / name for name in ("mails/old.log", "media/deliverables/0192f0c1-0000-7000-8000-000000000000")]
    for path in left:
        path.parent.mkdir(parents=True)
        path.write_text("of before", encoding="utf-8")
    # The quickstart makes the same content on SQLite.
    with postgres() as address:
        fill_postgres(address)
        given = {"DJANGO_SETTINGS_MODULE": "marketplace.settings.embedded", "SANDBOX": "true", "DATA_DIR": str(tmp_path)}
        call_in(bare_environment() | given | {"DATABASE_URL": address}, "tests.ops.commands.reset_sandbox")
        with psycopg.connect(address) as database:
            emails = {email for (email,) in database.execute("SELECT email FROM accounts_user").fetchall()}
    assert "old@example.com" not in emails
    assert "buyer@demo.example" in emails
    assert not any(path.exists() for path in left)
    facts = json.loads((tmp_path / "demo.json").read_text(encoding="utf-8"))
    assert facts["buyer"]["bearerToken"].startswith("cam_test_pat_")
    assert facts["developer"]["apiKey"].startswith("cam_test_sk_")
