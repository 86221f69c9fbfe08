"""The application page: apply, converse, read the decision."""

from collections.abc import Callable

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from developers.models import DeveloperApplication
from developers.services.applications import reject_application, request_more_info, submit_application
from marketplace.accounts.models import User
from tests.factories import UserFactory

from .markup import read

pytestmark = pytest.mark.django_db

PAGE = "/dashboard/developer"
COMPLETE = {"what": "A plug-in", "why": "It searches", "company": "Rao Type", "website": "https://rao.example"}


@pytest.mark.parametrize(
    ("field", "value"),
    # The last is refused by the service alone.
    [("why", " "), ("what", "null\x0bbyte")],
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


def test_apply_leads_back_to_the_page_with_a_message(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    client = browse(user)
    response = client.post(PAGE, COMPLETE)
    assert response["Location"] == PAGE
    assert "with our reviewers" in str(next(iter(get_messages(response.wsgi_request))))
    assert '<textarea name="what"' not in client.get(PAGE).content.decode()


def test_answer_of_a_user_without_an_application_changes_nothing(browse: Callable[..., Client]) -> None:
    assert browse().post(PAGE, {"text": "Hello"}).status_code == 302
    assert not DeveloperApplication.objects.exists()


def test_question_is_answered_on_the_page(browse: Callable[..., Client], reviewer: User) -> None:
    user = UserFactory()
    application = submit_application(user=user, what="A bot", why="Search", actor=user)
    request_more_info(application=application, reason="For <b>whom</b> is it?", actor=reviewer)
    client = browse(user)
    text = read(client.get(PAGE))
    assert "For &lt;b&gt;whom&lt;/b&gt; is it?" in text
    assert reviewer.email not in text
    read(client.post(PAGE, {"text": " "}), 400)
    assert client.post(PAGE, {"text": "For small studios"}).status_code == 302
    assert "For small studios" in client.get(PAGE).content.decode()


def test_ended_application_shows_the_reason_and_a_new_form(browse: Callable[..., Client], reviewer: User) -> None:
    user = UserFactory()
    application = submit_application(user=user, what="A bot", why="Search", actor=user)
    reject_application(application=application, reason="Too <b>vague</b>", actor=reviewer)
    client = browse(user)
    text = read(client.get(PAGE))
    assert "Too &lt;b&gt;vague&lt;/b&gt;" in text
    assert '<textarea name="what"' in text
    assert client.post(PAGE, COMPLETE).status_code == 302
