"""Mails about decisions: sent once the change stands, with a link, and never in its way."""

import logging
import re
import smtplib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from django.conf import settings as django_settings
from django.core import mail as outbox
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.urls import resolve
from pytest_django import DjangoCaptureOnCommitCallbacks

from marketplace.core.ids import new_id
from marketplace.core.mails import mail
from marketplace.core.models import AuditEntry
from tests.admin.pages import address, press, signed_in, staff
from tests.admin.subjects import CASES, Case
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

FOLDER = Path(django_settings.BASE_DIR) / "templates" / "mail"
TEMPLATES = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.txt"))
# What any of the templates names.
CONTEXT: dict[str, Any] = {
    "app": SimpleNamespace(pk=new_id(), name="Fontster", status="Approved"),
    "listing": SimpleNamespace(pk=new_id(), slug="halden-grotesk", title="Halden Grotesk"),
    "review": SimpleNamespace(kind="Listing", note="", findings=[]),
    "deliverable": SimpleNamespace(original_filename="halden.zip"),
    "endpoint": SimpleNamespace(pk=new_id(), url="an address"),
    "store": SimpleNamespace(name="North Type"),
    "reason": "For a good reason.",
    "question": "What for?",
    "payout": SimpleNamespace(pk=new_id()),
    "run": "2026-11",
    "amount_minor": 39_920,
    "currency": "INR",
}


class RefusesRecipients(BaseEmailBackend):
    """A mail server that names the address and quotes its password, as some do."""

    def send_messages(self, email_messages: Any) -> NoReturn:
        """Refuse."""
        raise smtplib.SMTPRecipientsRefused({email_messages[0].to[0]: (550, b"password hunter2 is wrong")})


def html_of(sent: Any) -> BeautifulSoup:
    """Return the mail as mail programs show it."""
    ((page, kind),) = sent.alternatives
    assert kind == "text/html"
    return BeautifulSoup(str(page), "html.parser")


def test_mail_of_a_change_that_is_undone_is_not_sent(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        mail(UserFactory(), "vendors/approved", **CONTEXT)
        transaction.set_rollback(True)
    assert outbox.outbox == []


def test_first_line_is_the_subject_and_text_is_not_escaped(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> None:
    user = UserFactory(name="")
    with django_capture_on_commit_callbacks(execute=True):
        mail(user, "vendors/suspended", store=SimpleNamespace(name="R&D <Type>"), reason="Look & feel")
        assert outbox.outbox == []
    (sent,) = outbox.outbox
    assert (sent.subject, sent.to) == ("R&D <Type> is suspended", [user.email])
    assert "Look & feel" in sent.body


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_mail_leads_to_a_page_that_is_there(
    template: str, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        mail(UserFactory(), template, **CONTEXT)
    (sent,) = outbox.outbox
    links = re.findall(r"https?://\S+", str(sent.body))
    assert links
    for link in links:
        assert link.startswith(f"{django_settings.BASE_URL}/")
        assert resolve(urlsplit(link).path)
    shown = html_of(sent)
    assert [link["href"] for link in shown.find_all("a")] == [link for link in links if f"\n{link}\n" in f"\n{sent.body}\n"]
    assert not shown.find_all(["img", "script", "link"])


def test_names_in_a_mail_are_never_markup_or_links(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> None:
    names = {
        "store": SimpleNamespace(name='<a href="https://evil.example">x</a>'),
        "reason": "https://evil.example/\n\nhttps://evil.example/",
    }
    with django_capture_on_commit_callbacks(execute=True):
        mail(UserFactory(), "vendors/suspended", **names)
    shown = html_of(outbox.outbox[0])
    assert all(str(link["href"]).startswith(f"{django_settings.BASE_URL}/") for link in shown.find_all("a"))


def test_mail_server_that_refuses_is_logged_without_addresses_or_words(
    settings: Any, caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.MAIL_TRANSPORT = f"{__name__}.RefusesRecipients"
    user = UserFactory()
    with caplog.at_level(logging.DEBUG), django_capture_on_commit_callbacks(execute=True):
        mail(user, "vendors/approved", **CONTEXT)
    assert "(marketplace.jobs.mailing.send_mail) failed at attempt 1: smtplib.SMTPRecipientsRefused. Again in" in caplog.text
    for secret in (user.email, "hunter2", CONTEXT["reason"]):
        assert secret not in caplog.text


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.audit.split(".")[0] in {"application", "app", "vendor", "listing"}], ids=str
)
def test_decision_stands_when_the_mail_server_is_down(case: Case, settings: Any) -> None:
    settings.MAIL_TRANSPORT = f"{__name__}.RefusesRecipients"
    subject = case.make()
    page = address(type(subject), case.name, subject.pk)
    assert press(signed_in(staff(case.permission)), page, case.answers).status_code == 200
    assert AuditEntry.objects.filter(action=case.audit).exists()
