"""The application page: apply, converse, read the decision."""

from collections.abc import Callable

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from developers.models import DeveloperApplication
from developers.services.applications import (
    approve_application,
    reject_application,
    request_more_info,
    submit_application,
    withdraw_approval,
)
from marketplace.accounts.models import User
from tests.factories import UserFactory

from .markup import read

pytestmark = pytest.mark.django_db

PAGE = "/dashboard/developer"
COMPLETE = {"what": "A plug-in", "why": "It searches", "company": "Rao Type", "website": "https://rao.example"}


def _apply(user: User) -> DeveloperApplication:
    return submit_application(user=user, what="A bot", why="Search", actor=user)


@pytest.mark.parametrize(
    ("field", "value"),
    # The last is refused by the service alone.
    [("why", " "), ("company", "x" * 121), ("website", "javascript:alert(1)"), ("what", "null\x0bbyte")],
)
def test_field_of_an_application_that_is_not_accepted_is_named_and_the_rest_kept(
    browse: Callable[..., Client], field: str, value: str
) -> None:
    response = browse().post(PAGE, COMPLETE | {field: value})
    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]
    assert "A plug-in" in response.content.decode() or field == "what"
    assert not DeveloperApplication.objects.exists()


def test_line_break_counts_as_one_character_in_the_application(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    assert browse(user).post(PAGE, COMPLETE | {"what": "x\r\n" * 1000}).status_code == 302
    assert DeveloperApplication.objects.get(user=user).what.startswith("x\nx")


def test_second_application_is_refused_and_keeps_the_form(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    client = browse(user)
    _apply(user)
    response = client.post(PAGE, COMPLETE)
    assert response.status_code == 400
    assert "already open" in response.content.decode() or "open application" in response.content.decode()
    assert ">\nA plug-in</textarea>" in response.content.decode()
    assert DeveloperApplication.objects.count() == 1


def test_apply_leads_back_to_the_page_with_a_message(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    client = browse(user)
    response = client.post(PAGE, COMPLETE)
    assert response.status_code == 302
    assert response["Location"] == PAGE
    assert "with our reviewers" in str(next(iter(get_messages(response.wsgi_request))))
    text = client.get(PAGE).content.decode()
    assert "In review" in text
    assert "A plug-in" in text
    assert '<textarea name="what"' not in text


def test_answer_to_an_application_without_a_question_is_refused(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    _apply(user)
    response = browse(user).post(PAGE, {"text": "By the way"})
    assert response.status_code == 400
    assert "the status is MoreInfoNeeded" in response.content.decode()
    assert ">\nBy the way</textarea>" in response.content.decode()


def test_answer_of_a_user_without_an_application_changes_nothing(browse: Callable[..., Client]) -> None:
    assert browse().post(PAGE, {"text": "Hello"}).status_code == 302
    assert not DeveloperApplication.objects.exists()


def test_question_is_answered_on_the_page(browse: Callable[..., Client], reviewer: User) -> None:
    user = UserFactory()
    request_more_info(application=_apply(user), reason="For <b>whom</b> is it?", actor=reviewer)
    client = browse(user)
    text = read(client.get(PAGE))
    assert "For &lt;b&gt;whom&lt;/b&gt; is it?" in text
    assert "More information needed" in text
    assert reviewer.email not in text
    read(client.post(PAGE, {"text": " "}), 400)
    assert client.post(PAGE, {"text": "For small studios"}).status_code == 302
    text = client.get(PAGE).content.decode()
    assert "For small studios" in text
    assert "In review" in text


def test_ended_application_shows_the_reason_and_a_new_form(browse: Callable[..., Client], reviewer: User) -> None:
    user = UserFactory()
    reject_application(application=_apply(user), reason="Too vague", actor=reviewer)
    client = browse(user)
    text = client.get(PAGE).content.decode()
    assert "Too vague" in text
    assert '<textarea name="what"' in text
    assert client.post(PAGE, COMPLETE).status_code == 302
    application = approve_application(application=DeveloperApplication.objects.latest("submitted_at"), reason="Fine", actor=reviewer)
    withdraw_approval(application=application, reason="Misused", actor=reviewer)
    assert "Misused" in client.get(PAGE).content.decode()
