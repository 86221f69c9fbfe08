"""Provider's secrets and bank details: in no log, list, page, export of someone else, webhook or backup in clear."""

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from django.contrib import admin
from django.core import mail as outbox
from django.db import connection, connections
from django.db.models import Model
from django.urls import reverse
from stripe import WebhookSignature

from developers.event_types import EventType
from developers.services.webhooks import create_endpoint
from marketplace.accounts.models import User
from marketplace.core.errors import Problem
from marketplace.operations import dumps
from marketplace.operations.personal_data import export_lines
from marketplace.review.claims import claim
from tests.admin.every_page import keeper, paths
from tests.callers import signed_in
from tests.contract.calls import rows
from tests.factories import AppFactory, UserFactory
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from tests.wallet.payees import account_of, end_waiting_time, paid_payout
from tests.wallet.top_up_cases import requested_top_up
from wallet.models import VendorPayout, WalletPayout

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "correct horse battery"
STRIPE = {"STRIPE_SECRET_KEY": "sk_test_SEEN1", "STRIPE_WEBHOOK_SECRET": "whsec_SEEN2"}
RAZORPAY = {"RAZORPAY_KEY_ID": "rzp_test_1", "RAZORPAY_KEY_SECRET": "rzp_SEEN3", "RAZORPAY_WEBHOOK_SECRET": "rzp_SEEN4"}
# A vendor's accounts, and what a buyer writes.
NUMBER, IBAN, MISTYPED, FREE = "000123456789", "DE89370400440532013000", "DE89370400440532013001", "DE02120300000000202051"
SECRETS = ("SEEN1", "SEEN2", "SEEN3", "SEEN4", NUMBER, IBAN, MISTYPED, FREE)
# Where the staff who pay see where to.
SHOWN_TO_PAY = re.compile(r"/admin/wallet/walletpayout/[0-9a-f-]{36}/(change|pay)/$")


def seen_in(text: str) -> set[str]:
    """Return the secrets in a text, however they are grouped."""
    plain = text.replace(" ", "").replace("\xa0", "")
    return {secret for secret in SECRETS if secret in plain}


class Everything(logging.Handler):
    """Keeps all that is logged, with what goes with it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.lines.append(f"{self.format(record)} {record.__dict__!r}")


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Everything that any logger says, queries with their parameters too."""
    handler = Everything()
    names = [name for name in logging.root.manager.loggerDict if isinstance(logging.getLogger(name), logging.Logger)]
    loggers = [logging.root, *map(logging.getLogger, names)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connections["default"], "force_debug_cursor", True)
        for logger in loggers:
            patched.setattr(logger, "disabled", False)
        levels = [logger.level for logger in loggers]
        # A logger remembers what it is enabled for until a level is set.
        for logger in loggers:
            logger.setLevel(logging.DEBUG)
        reached = [logger for logger in loggers if logger is logging.root or not logger.propagate]
        for logger in reached:
            logger.addHandler(handler)
        yield handler.lines
        for logger in reached:
            logger.removeHandler(handler)
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@pytest.fixture
def happened(settings: Any, monkeypatch: pytest.MonkeyPatch) -> User:
    """A vendor was paid, a buyer asked for credit, and providers called and were called; return the vendor."""
    profile = make_vendor()
    app = AppFactory(user=profile.user)
    create_endpoint(app=app, url="https://app.example/hook", events=tuple(EventType), actor=profile.user)
    vendor, buyer = signed_in(profile.user), funded(inr=200_000)
    for currency, number, bank in (("USD", MISTYPED, "COBADEFFXXX"), ("USD", IBAN, "COBADEFFXXX"), ("INR", NUMBER, "SBIN0000300")):
        account = {"holder": "Asha Rao", "number": number, "bank": bank, "password": PASSWORD}
        assert vendor.post(reverse("payout-details", args=[currency]), account).status_code == (400 if number == MISTYPED else 302)
    end_waiting_time(profile)
    bought(on_sale(store=profile.store), buyer)
    paid_payout(account_of(profile))
    wanted = {"currency": "INR", "amount": "100", "payment_details": f"IBAN {FREE}", "password": PASSWORD}
    assert signed_in(buyer).post(reverse("wallet-payout-new"), wanted).status_code == 302
    assert WalletPayout.objects.get().payment_details == f"IBAN {FREE}"
    settings.STRIPE, settings.RAZORPAY = STRIPE, RAZORPAY
    _call_and_be_called(vendor, monkeypatch)
    return profile.user


def _call_and_be_called(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    body = '{"id": "evt_1", "type": "charge.succeeded", "data": {"object": {}}}'
    for secret, status in ((STRIPE["STRIPE_WEBHOOK_SECRET"], 400), ("another", 400)):
        signature = WebhookSignature.generate_signature_header(body, secret)
        sent = client.post("/payments/stripe/events", body, content_type="application/json", headers={"Stripe-Signature": signature})
        assert sent.status_code in {200, status}
    client.post("/payments/razorpay/events", body, content_type="application/json", headers={"X-Razorpay-Signature": "0"})

    def refused(session: Any, method: str, url: str, **sent: Any) -> requests.Response:
        response = requests.Response()
        response.status_code, response._content = 401, json.dumps({"error": {"message": "Invalid API Key", "code": "x"}}).encode()
        return response

    monkeypatch.setattr(requests.Session, "request", refused)
    for currency in ("USD", "INR"):
        with pytest.raises(Problem):
            requested_top_up(UserFactory(), 500, currency)


@pytest.mark.slow
def test_no_log_has_a_secret_at_any_level(logged: list[str], happened: User) -> None:
    assert any("wallet_walletpayout" in line for line in logged)
    assert any("stripe" in line for line in logged)
    assert [line[:300] for line in logged if seen_in(line)] == []


@pytest.mark.slow
def test_admin_shows_secrets_only_on_the_pages_of_payouts_to_staff_who_pay_them(happened: User) -> None:
    staff, shown = keeper(superuser=True), set()
    client = signed_in(staff)
    claim(row=WalletPayout.objects.get(), waiting=WalletPayout.objects.all(), own=False, noun="wallet_payout", actor=staff)
    for path in paths():
        answer = client.get(path)
        if seen_in(answer.getvalue().decode()):
            shown.add(path)
    exports = [reverse(f"admin:wallet_{name}_export") for name in ("vendorpayout", "invoice") if f"wallet_{name}_export" in _routes()]
    assert exports
    for path in exports:
        answer = client.get(path)
        assert answer.status_code == 200
        assert seen_in(answer.getvalue().decode()) == set()
    assert [path for path in shown if not SHOWN_TO_PAY.search(path)] == []
    assert shown


def _routes() -> set[str]:
    return {str(url.name) for model_admin in admin.site._registry.values() for url in model_admin.get_urls() if hasattr(url, "name")}


def test_no_secret_is_in_clear_in_the_database_its_backup_mails_or_exports_but_for_what_the_owner_wrote(
    happened: User, tmp_path: Path
) -> None:
    # Webhooks that wait, jobs and the audit log are rows too.
    assert {table: found for table, stored in rows().items() if (found := seen_in("".join(stored)))} == {}
    assert [message.subject for message in outbox.outbox if seen_in(str(message.message()))] == []
    if connection.vendor == "sqlite":
        dumps.dump(tmp_path / "dump")
        assert seen_in((tmp_path / "dump").read_bytes().decode("latin-1")) == set()
    exports = {user: seen_in("".join(export_lines(user))) for user in User.objects.all()}
    owner = WalletPayout.objects.get().wallet.owner
    assert {user: found for user, found in exports.items() if found} == {owner: {FREE}}
    # Of the admin, where the staff who pay see the account of a claimed payout; every page of it is in the test above.
    staff = keeper(superuser=True)
    claim(row=WalletPayout.objects.get(), waiting=WalletPayout.objects.all(), own=False, noun="wallet_payout", actor=staff)
    shown = {page: seen_in(signed_in(staff).get(page).getvalue().decode()) for page in _pages_of_payouts()}
    assert {page: found for page, found in shown.items() if found} == {_page_of(WalletPayout.objects.get()): {FREE}}


def _page_of(row: Model) -> str:
    return reverse(f"admin:wallet_{row._meta.model_name}_change", args=[row.pk])


def _pages_of_payouts() -> list[str]:
    routes = ("walletpayout_changelist", "vendorpayout_changelist", "vendorpayout_export", "invoice_export")
    return [
        *(reverse(f"admin:wallet_{route}") for route in routes),
        *map(_page_of, (*WalletPayout.objects.all(), *VendorPayout.objects.all())),
    ]
