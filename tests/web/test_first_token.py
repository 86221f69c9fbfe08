"""From the sign-up to a call: the dashboard creates a first token with one button, without a review."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from developers.models import AccessToken, DeveloperApplication
from developers.purging import TOKENS_KEPT, expired_tokens
from developers.services.rotation import rotate_token
from developers.services.spending import LimitValues, set_spending_limit
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.money import Currency
from marketplace.core.scopes import APP_SCOPES, Scope
from tests.factories import UserFactory
from tests.mcp.speaking import Speaker

pytestmark = pytest.mark.django_db
ASSISTANT = "/dashboard/tokens/new-for-assistant"


def page_of(client: Client, address: str = "/dashboard") -> BeautifulSoup:
    return BeautifulSoup(client.get(address).content, "html.parser")


def create(client: Client, address: str) -> str:
    """Send the form of the dashboard that leads to this address; return the secret of the page that follows."""
    form = page_of(client).find("form", action=address)
    assert form
    fields: dict[str, list[str]] = {}
    for field in form.select("input[name]"):
        fields.setdefault(str(field["name"]), []).append(str(field["value"]))
    answer = client.post(address, fields, follow=True)
    secret = BeautifulSoup(answer.content, "html.parser").find(id="secret")
    assert secret
    return secret.text


def create_assistant_token(client: Client) -> None:
    client.post(ASSISTANT, {"name": "desk", "lifetime": "30", "scopes": ["library:read"]})


def test_first_token_is_offered_once_and_makes_the_call_that_its_page_shows(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    client = browse(user)
    secret = create(client, reverse("token-create"))
    assert page_of(client).find("form", action=reverse("token-create")) is None
    answer = APIClient().get("/api/v1/me", headers={"authorization": f"Bearer {secret}"})
    assert (answer.status_code, answer.json()["userId"]) == (200, str(user.pk))
    assert answer.json()["scopes"] == ["library:read", "account:read"]


def test_first_token_of_an_assistant_works_with_the_tools_and_nowhere_else(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    secret = create(browse(user), reverse("assistant-token-create"))
    told = Speaker(secret).call("who_am_i")["structuredContent"]
    assert (told["userId"], told["app"], told["credential"]["kind"]) == (str(user.pk), None, "mcp")
    assert APIClient().get("/api/v1/me", headers={"authorization": f"Bearer {secret}"}).status_code == 401


def test_reviewed_path_is_shown_with_its_usual_waiting_time(browse: Callable[..., Client]) -> None:
    client = browse()
    assert "Half of the last decisions" not in page_of(client).text
    # The median is more than a day: 46 hours and a moment.
    for hours in (24, 46, 216):
        submitted = timezone.now() - timedelta(hours=hours)
        decided = {"status": "Rejected", "decided_at": timezone.now(), "decided_by": UserFactory()}
        made = DeveloperApplication.objects.create(user=UserFactory(), what="x", why="y", submitted_at=submitted, **decided)
        audit.record("application.reject", made, actor=None, from_state="Pending", to_state="Rejected", reason="No contact.")
    assert "Half of the latest decisions took 2\xa0days or less." in page_of(client).text


def test_assistant_may_have_the_scopes_of_tools(browse: Callable[..., Client]) -> None:
    boxes = page_of(browse(), ASSISTANT).select("input[name=scopes]")
    assert {box["value"] for box in boxes} == APP_SCOPES


def test_rotated_token_of_an_assistant_stays_one_with_its_limits(browse: Callable[..., Client]) -> None:
    user: User = UserFactory()
    create_assistant_token(browse(user))
    token = AccessToken.objects.get()
    set_spending_limit(owner=user, spender=token, limit_values=LimitValues(Currency.USD, total_minor=100), actor=user)
    successor, secret = rotate_token(token=token, overlap=timedelta(0), actor=user)
    assert (successor.kind, successor.application, set(successor.scopes)) == ("mcp", None, {Scope.LIBRARY_READ})
    assert Speaker(secret).tools()


def test_expired_token_of_an_assistant_is_kept_as_its_users_record(browse: Callable[..., Client]) -> None:
    create_assistant_token(browse())
    AccessToken.objects.update(expires=timezone.now() - TOKENS_KEPT - timedelta(days=1))
    assert not expired_tokens()["access tokens"].exists()
