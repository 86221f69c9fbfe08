"""A sandbox: what it says, approves and keeps, what it refuses, and how it is emptied."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bs4 import BeautifulSoup
from django.core.exceptions import ImproperlyConfigured
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.test import Client

from developers.errors import AppNotApproved
from developers.models import App, AppScope, ScopeReview
from developers.services.applications import submit_application
from developers.services.apps import create_app
from developers.services.clients import set_redirect_uris
from developers.services.credentials import issue_api_key
from developers.services.scopes import request_scopes
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.scopes import Scope
from marketplace.mcp.tools.calling import TOOLS
from marketplace.operations.installation import record_installation, refuse_other_database
from marketplace.operations.models import Installation
from tests import ROOT
from tests.factories import AppFactory, UserFactory
from tests.files.makers import picture
from tests.mcp.speaking import Speaker, mcp_token
from tests.waiting import PATIENCE_SECONDS
from tests.wallet.top_up_cases import requested_top_up
from wallet.models import TopUp
from wallet.providers import SimulatedProvider, has_top_ups_of_real_providers

from ..checks import PRODUCTION
from ..servers.migrated import copy_sqlite, fill_postgres
from ..servers.postgres import postgres
from ..servers.process import bare_environment

REASON = {Scope.LIBRARY_READ: "It lists them."}
PAGES = ["/", "/docs/quick-start", "/dashboard", "/admin/", "/account/email/", "/no-such-page", "/problems/not_found"]
WITHOUT = {"S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "EMAIL_URL"}


@pytest.fixture
def sandbox(settings: Any) -> Any:
    """The settings of a sandbox."""
    settings.SANDBOX = True
    return settings


def manage(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=bare_environment() | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


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
    logo = {"logo": SimpleUploadedFile("logo.png", picture())}
    text = client.post(f"{app}/logo", logo, follow=True).content.decode()
    assert "The logo is saved." in text
    assert "The logo is saved. Users" not in text


@pytest.mark.django_db
def test_redirect_uris_of_a_sandbox_app_with_scopes_need_no_review(sandbox: Any) -> None:
    app = AppFactory()
    assert not set_redirect_uris(app=app, uris=["https://app.example/back"], actor=app.developer)
    app.refresh_from_db()
    assert app.redirect_uris == "https://app.example/back"


@pytest.mark.django_db
def test_nothing_is_approved_automatically_outside_of_a_sandbox() -> None:
    user = UserFactory()
    application = submit_application(user=user, what="A picker", why="Fonts", actor=user)
    assert application.status == "Pending"
    application.status = "Approved"
    application.save()
    app = create_app(user=user, name="Picker", purpose="Picks", scopes=REASON, actor=user)
    with pytest.raises(AppNotApproved):
        issue_api_key(app=app, name="laptop", actor=user)


@pytest.mark.django_db
def test_new_account_of_a_sandbox_needs_no_confirmed_address(sandbox: Any) -> None:
    sandbox.ACCOUNT_EMAIL_VERIFICATION = "optional"
    client, password = Client(), "a long enough phrase"
    answer = client.post("/account/signup/", {"email": "new@example.com", "password1": password, "password2": password})
    assert answer.status_code == 302
    assert client.get("/dashboard").status_code == 200


@pytest.mark.django_db
def test_mcp_instructions_of_a_sandbox_say_that_it_is_one(sandbox: Any) -> None:
    _, secret, _ = mcp_token()
    assert "sandbox" in Speaker(secret).result("server/discover")["instructions"]
    assert "who_am_i" in TOOLS


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


@pytest.mark.full
def test_filling_an_empty_sandbox_deletes_no_files(tmp_path: Path) -> None:
    kept = tmp_path / "media" / "deliverables" / "0192f0c1-0000-7000-8000-000000000000"
    kept.parent.mkdir(parents=True)
    kept.write_text("of another database", encoding="utf-8")
    done = manage("sandbox_reset", "--if-empty", SANDBOX="true", DATA_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert kept.read_text(encoding="utf-8") == "of another database"


@pytest.mark.django_db
def test_sandbox_reset_outside_of_a_sandbox_is_refused() -> None:
    user = UserFactory()
    with pytest.raises(CommandError, match="not a sandbox"):
        call_command("sandbox_reset", yes=True)
    assert User.objects.filter(pk=user.pk).exists()


@pytest.mark.full
@pytest.mark.parametrize("name", ["STRIPE_SECRET_KEY", "RAZORPAY_KEY_ID", "EMAIL_URL"])
def test_sandbox_does_not_start_with_settings_of_real_payments_or_mail(name: str, tmp_path: Path) -> None:
    done = manage("check", SANDBOX="true", DATA_DIR=str(tmp_path), **{name: "smtp://mail.example"})
    assert done.returncode
    assert name in done.stderr


@pytest.mark.full
def test_production_settings_of_a_sandbox_pass_the_check_of_deployments_and_name_it(tmp_path: Path) -> None:
    given = {name: value for name, value in PRODUCTION.items() if name not in WITHOUT}
    done = manage("check", "--deploy", "--fail-level", "WARNING", **given, SANDBOX="true", DATA_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "wallet.I001" in done.stderr
    code = "from django.conf import settings as s; print(s.MAIL_TRANSPORT, s.EMAIL_FILE_PATH, s.TEST_PAYMENTS, s.TEST_PAYMENTS_ALLOWED)"
    shown = manage("shell", "--no-imports", "--command", code, **given, SANDBOX="true", DATA_DIR=str(tmp_path))
    assert shown.stdout.split() == ["django.core.mail.backends.filebased.EmailBackend", str(tmp_path / "mails"), "True", "True"]


@pytest.mark.full
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_sandbox_reset_restores_the_demo_and_deletes_all_else(engine: str, tmp_path: Path) -> None:
    env = {"SANDBOX": "true", "DATA_DIR": str(tmp_path)}
    if engine == "sqlite":
        copy_sqlite(tmp_path / "marketplace.sqlite3")
        _reset_and_look(env, tmp_path)
        return
    with postgres() as address:
        fill_postgres(address)
        _reset_and_look(env | {"DATABASE_URL": address}, tmp_path)


def _reset_and_look(env: dict[str, str], folder: Path) -> None:
    # The copied database was migrated for a marketplace.
    assert "operations.E001" in manage("sandbox_reset", "--yes", **env).stderr
    code = "from marketplace.operations.models import Installation; Installation.objects.update(sandbox=True)"
    assert manage("shell", "--no-imports", "--command", code, **env).returncode == 0
    left = [folder / name for name in ("mails/old.log", "media/deliverables/0192f0c1-0000-7000-8000-000000000000")]
    for path in left:
        path.parent.mkdir(parents=True)
        path.write_text("of before", encoding="utf-8")
    made = manage("createsuperuser", "--no-input", "--email", "old@example.com", **env, DJANGO_SUPERUSER_PASSWORD="of before, long")
    assert made.returncode == 0, made.stderr
    assert "content already" in manage("sandbox_reset", "--if-empty", **env).stdout
    assert manage("sandbox_reset", **env).returncode == 1
    assert "old@example.com" in _emails(env, folder)
    done = manage("sandbox_reset", "--yes", **env)
    assert done.returncode == 0, done.stderr
    emails = _emails(env, folder)
    assert "old@example.com" not in emails
    assert "buyer@demo.example" in emails
    assert not any(path.exists() for path in left)
    facts = json.loads((folder / "demo.json").read_text(encoding="utf-8"))
    assert facts["buyer"]["bearerToken"].startswith("cam_test_pat_")
    assert facts["developer"]["apiKey"].startswith("cam_test_sk_")


def _emails(env: dict[str, str], folder: Path) -> set[str]:
    statement = "SELECT email FROM accounts_user"
    if "DATABASE_URL" in env:
        with psycopg.connect(env["DATABASE_URL"]) as connection:
            return {email for (email,) in connection.execute(statement).fetchall()}
    with closing(sqlite3.connect(folder / "marketplace.sqlite3")) as database:
        return {email for (email,) in database.execute(statement).fetchall()}
