"""The application page: apply, converse, read the decision."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from unittest.mock import patch

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from developers.models import DeveloperApplication
from developers.services.applications import (
    answer_question,
    approve_application,
    reject_application,
    request_more_info,
    submit_application,
    withdraw_approval,
)
from marketplace.accounts.models import User
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

PAGE = "/dashboard/developer"
COMPLETE = {"what": "A plug-in", "why": "It searches", "company": "Rao Type", "website": "https://rao.example"}


def _apply(user: User) -> DeveloperApplication:
    return submit_application(user=user, what="A bot", why="Search", actor=user)


@pytest.mark.parametrize("missing", ["what", "why"])
def test_apply_without_a_required_field_keeps_the_rest(browse: Callable[..., Client], missing: str) -> None:
    response = browse().post(PAGE, COMPLETE | {missing: " "})
    assert response.status_code == 400
    assert missing in response.context["form"].errors
    assert "Rao Type" in response.content.decode()
    assert not DeveloperApplication.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("what", "x" * 2001), ("company", "x" * 121), ("website", "javascript:alert(1)"), ("website", "https://x.example/" + "x" * 2000)],
)
def test_apply_beyond_the_bounds_is_refused_beside_the_field(browse: Callable[..., Client], field: str, value: str) -> None:
    response = browse().post(PAGE, COMPLETE | {field: value})
    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]


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


def test_apply_when_a_form_field_is_refused_by_the_service_names_the_field(browse: Callable[..., Client]) -> None:
    response = browse().post(PAGE, COMPLETE | {"what": "null\x0bbyte"})
    assert response.status_code == 400
    assert "what" in response.context["form"].errors


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
    request_more_info(application=_apply(user), question="For whom is it?", actor=reviewer)
    client = browse(user)
    text = client.get(PAGE).content.decode()
    assert "For whom is it?" in text
    assert "More information needed" in text
    assert reviewer.email not in text
    assert client.post(PAGE, {"text": " "}).status_code == 400
    assert client.post(PAGE, {"text": "For small studios"}).status_code == 302
    text = client.get(PAGE).content.decode()
    assert "For small studios" in text
    assert "In review" in text


def test_rejected_application_shows_the_reason_and_a_new_form(browse: Callable[..., Client], reviewer: User) -> None:
    user = UserFactory()
    reject_application(application=_apply(user), reason="Too vague", actor=reviewer)
    client = browse(user)
    text = client.get(PAGE).content.decode()
    assert "Too vague" in text
    assert '<textarea name="what"' in text
    assert client.post(PAGE, COMPLETE).status_code == 302


def test_withdrawn_approval_shows_the_reason(browse: Callable[..., Client], reviewer: User) -> None:
    user = UserFactory()
    application = approve_application(application=_apply(user), reason="Fine", actor=reviewer)
    withdraw_approval(application=application, reason="Misused", actor=reviewer)
    assert "Misused" in browse(user).get(PAGE).content.decode()


def test_texts_of_others_are_escaped(browse: Callable[..., Client], reviewer: User) -> None:
    user = UserFactory()
    request_more_info(application=_apply(user), question="<script>alert(1)</script>", actor=reviewer)
    page = browse(user).get(PAGE).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_application_page_sends_few_queries(
    browse: Callable[..., Client], reviewer: User, django_assert_max_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    user = UserFactory()
    application = _apply(user)
    for _ in range(3):
        request_more_info(application=application, question="And?", actor=reviewer)
        answer_question(application=application, text="This", actor=user)
    client = browse(user)
    with django_assert_max_num_queries(6):
        client.get(PAGE)


def test_unexpected_exception_in_a_form_view_is_a_500(browse: Callable[..., Client]) -> None:
    client = browse()
    client.raise_request_exception = False
    with patch("developers.dashboard.views.application.submit_application", side_effect=RuntimeError("secret")):
        response = client.post(reverse("developer-application"), COMPLETE)
    assert response.status_code == 500
    assert "secret" not in response.content.decode()
    assert "internal_error" in response.content.decode()
