"""Mails about decisions: sent once the change stands, with a link, and never in its way."""

import ast
import logging
import re
import smtplib
from io import StringIO
from types import SimpleNamespace
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest
from allauth.account.adapter import get_adapter
from bs4 import BeautifulSoup
from django.conf import settings as django_settings
from django.core import mail as outbox
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.template import Engine
from django.urls import resolve
from pytest_django import DjangoCaptureOnCommitCallbacks

from marketplace.accounts.models import MailTopic
from marketplace.settings import base
from marketplace.ui.mail import LINK_MARK, as_html, mail, with_signature
from tests.architecture.source import modules
from tests.factories import UserFactory
from tests.mail_samples import ACCOUNT_TEMPLATES, ALWAYS_SENT, CONTEXT, TEMPLATES, TOPICS, Sent, account_sample, sample_of

pytestmark = pytest.mark.django_db


class RefusesRecipients(BaseEmailBackend):
    """A mail server that names the address and quotes its password, as some do."""

    def send_messages(self, email_messages: Any) -> NoReturn:
        """Refuse."""
        raise smtplib.SMTPRecipientsRefused({email_messages[0].to[0]: (550, b"password hunter2 is wrong")})


def html_of(sent: Any) -> BeautifulSoup:
    ((page, kind),) = sent.alternatives
    assert kind == "text/html"
    return BeautifulSoup(str(page), "html.parser")


def test_mail_on_a_terminal_is_its_text() -> None:
    stream = StringIO()
    mail = EmailMultiAlternatives("Confirm", "Open https://shop.example/x?a=1&b=2 ä", "us@shop.example", ["you@shop.example"])
    mail.attach_alternative("<p>page</p>", "text/html")
    assert get_connection(base.MAIL_TRANSPORT, stream=stream).send_messages([mail]) == 1
    assert stream.getvalue().startswith("\nMail to you@shop.example\nSubject: Confirm\n\nOpen https://shop.example/x?a=1&b=2 ä\n\n---")
    assert "page" not in stream.getvalue()


def test_mail_of_a_change_that_is_undone_is_not_sent(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        mail(UserFactory(), "vendors/approved", **CONTEXT)
        transaction.set_rollback(True)
    assert outbox.outbox == []


def test_first_line_of_a_mail_template_is_the_subject_and_text_is_not_escaped(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    user = UserFactory(name="")
    with django_capture_on_commit_callbacks(execute=True):
        mail(user, "vendors/suspended", store=SimpleNamespace(name="R&D <Type>"), reason="Look & feel")
        assert outbox.outbox == []
    (sent,) = outbox.outbox
    assert (sent.subject, sent.to) == ("R&D <Type> is suspended", [user.email])
    assert "Look & feel" in sent.body


def _topic_of(call: ast.Call) -> str | None:
    # Also where it depends on something.
    values = [part for value in (*call.args, *(keyword.value for keyword in call.keywords)) for part in ast.walk(value)]
    return next((value.attr for value in values if isinstance(value, ast.Attribute) and ast.unparse(value.value) == "MailTopic"), None)


def test_recipients_can_unsubscribe_from_the_mails_of_the_table_and_from_no_other() -> None:
    calls = [node for module in modules() for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
    named = {arg.value: _topic_of(call) for call in calls for arg in call.args if isinstance(arg, ast.Constant) and arg.value in TEMPLATES}
    assert {template: MailTopic[topic] for template, topic in named.items() if topic} == TOPICS
    always = [f"{folder}/{name}" for folder, names in ALWAYS_SENT.items() for name in names.split()]
    assert sorted([*TOPICS, *always]) == TEMPLATES
    assert set(TOPICS.values()) == set(MailTopic)


def test_names_in_a_mail_are_never_markup_or_links(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> None:
    names: dict[str, Any] = {
        "store": SimpleNamespace(name='<a href="https://evil.example">x</a>'),
        "reason": "https://evil.example/\n\nhttps://evil.example/",
    }
    with django_capture_on_commit_callbacks(execute=True):
        mail(UserFactory(), "vendors/suspended", **names)
    shown = html_of(outbox.outbox[0])
    assert all(str(link["href"]).startswith(f"{django_settings.BASE_URL}/") for link in shown.find_all("a"))


def test_paragraphs_that_were_typed_into_a_page_are_paragraphs_in_both_forms(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        mail(UserFactory(), "vendors/suspended", **CONTEXT | {"reason": "First.\r\n\r\nSecond."})
    (sent,) = outbox.outbox
    assert "\nFirst.\n\nSecond.\n" in str(sent.body)
    assert {"First.", "Second."} <= {line.get_text() for line in html_of(sent).select("td.paper > p")}


def test_mail_server_that_refuses_is_logged_without_addresses_or_words(
    settings: Any, caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.MAIL_TRANSPORT = f"{__name__}.RefusesRecipients"
    user = UserFactory()
    with caplog.at_level(logging.DEBUG), django_capture_on_commit_callbacks(execute=True):
        mail(user, "vendors/approved", **CONTEXT)
    assert "(marketplace.jobs.mailing.send_mail) failed at attempt 1: smtplib.SMTPRecipientsRefused. Next attempt in" in caplog.text
    for secret in (user.email, "hunter2", CONTEXT["reason"]):
        assert secret not in caplog.text


UNRESOLVED = "«unresolved»"


def samples() -> dict[str, Sent]:
    """Return every mail, a variable that is not there shown."""
    return {
        **{name: sample_of(name) for name in TEMPLATES},
        **{f"second {name}": sample_of(name, first=False, last=False, own_app=None, reason="", note="") for name in TEMPLATES},
        **{name: account_sample(name, get_adapter()) for name in ACCOUNT_TEMPLATES},
    }


def words_of(html: str) -> list[str]:
    """Return what is read in the body; what a button says stands before its address in the text, with a colon."""
    page = BeautifulSoup(html, "html.parser")
    for label in page.select("a.cta"):
        label.string = f"{label.get_text()}:"
    assert page.body is not None
    return page.body.get_text(" ").split()


@pytest.mark.slow
def test_every_mail_is_filled_in_and_the_same_as_text_and_as_a_page_of_our_own(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setattr(Engine.get_default(), "string_if_invalid", UNRESOLVED)
    assert len(ACCOUNT_TEMPLATES) >= 4
    for name, sent in samples().items():
        with subtests.test(name):
            assert UNRESOLVED not in sent.subject + sent.text + sent.html
            assert "{{" not in sent.text + sent.html
            assert 0 < len(sent.subject) <= 78
            assert "\n\n\n" not in sent.text
            assert max(map(len, sent.html.splitlines())) < 998
            text = [word for word in sent.text.split() if word != "-"]
            # The head of the page has who sends it, and the paper the subject.
            assert words_of(sent.html) == ["Creative", "Asset", "Marketplace", *sent.subject.split(), *text]
            page = BeautifulSoup(sent.html, "html.parser")
            assert page.html is not None
            assert page.html["lang"] == "en"
            assert page.title is not None
            assert page.title.get_text() == sent.subject
            assert not page.select("img, script, link, form, iframe")
            assert "url(" not in sent.html
            assert {table["role"] for table in page.select("table")} == {"presentation"}
            links = re.findall(r"https?://\S+", sent.text)
            assert links
            assert all(link.startswith(f"{django_settings.BASE_URL}/") and resolve(urlsplit(link).path) for link in links)
            assert [link["href"] for link in page.select("a")] == [link for link in links if f"\n{link}\n" in f"\n{sent.text}\n"]
            labels = [label.get_text() for label in page.select("a.cta")]
            assert len(labels) == (name.removeprefix("second ") not in {"accounts/account_deleted", "wallet/former_vendor_settled"})
            assert all(len(label) < 40 and label != "Open the page" for label in labels)


@pytest.mark.parametrize(
    "before",
    ["", "See this:\n\n", "Look at this page.\n", "Two lines,\nthen a link:\n", f"{'long ' * 10}:\n", "- a point:\n"],
)
def test_only_a_short_line_of_its_own_right_above_a_link_is_its_button(before: str) -> None:
    page = BeautifulSoup(as_html("S", with_signature(f"{before}{LINK_MARK}{django_settings.BASE_URL}/dashboard\n")), "html.parser")
    assert [label.get_text() for label in page.select("a.cta")] == ["Open the page"]
    assert " ".join(before.removeprefix("- ").split()) in " ".join(page.get_text(" ").split())


def test_url_of_our_own_that_a_user_wrote_is_no_link() -> None:
    sent = sample_of("accounts/account_deactivated", reason=f"Confirm it:\n\n{django_settings.BASE_URL}/oauth/authorize?client_id=x")
    links = [str(link["href"]) for link in BeautifulSoup(sent.html, "html.parser").select("a")]
    assert links
    assert not [link for link in links if "authorize" in link]
    assert "/oauth/authorize?client_id=x" in sent.text
    assert LINK_MARK not in sent.text + sent.html


def test_label_of_a_mail_button_is_escaped() -> None:
    page = as_html("S", with_signature(f"<b>Look</b> & see:\n{LINK_MARK}{django_settings.BASE_URL}/dashboard\n"))
    assert [label.get_text() for label in BeautifulSoup(page, "html.parser").select("a.cta")] == ["<b>Look</b> & see"]


def test_lines_with_hyphens_in_a_mail_become_a_list() -> None:
    body = with_signature("It may:\n- read\n  what you own\n- <b>write</b>\nThat is all.\n")
    page = BeautifulSoup(as_html("S", body), "html.parser")
    assert [point.get_text("|", strip=True) for point in page.select("li")] == ["read|what you own", "<b>write</b>"]
    assert [line.get_text() for line in page.select("td.paper > p")] == ["It may:", "That is all."]


def test_links_of_sign_in_mails_use_the_base_url_whatever_host_was_requested() -> None:
    context = {"password_reset_url": "https://evil.example/account/password/reset/key/1-x/?a=b"}
    made = get_adapter().render_mail("account/email/password_reset_key", "asha@example.com", context)
    assert "evil.example" not in made.body + str(made.alternatives)
    assert f"{django_settings.BASE_URL}/account/password/reset/key/1-x/?a=b" in made.body
