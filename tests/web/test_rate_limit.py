"""The storefront's limit: programs that ask for page after page meet it, people do not."""

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from django.conf import settings as django_settings
from django.test import Client

from marketplace.http.rate_limits import CounterStoreDown
from tests.shop import on_sale

pytestmark = pytest.mark.django_db
SEARCHES = ("/browse?q=sans", "/suggest?q=s")


@pytest.fixture
def _few(settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"browsing": 3}


@pytest.mark.usefixtures("_few")
def test_visitor_who_asks_for_too_many_searches_sees_a_page_that_says_when_to_come_back(client: Client) -> None:
    # One network is one visitor.
    asked = [client.get(address, REMOTE_ADDR=f"2001:db8::{number}") for number, address in enumerate((*SEARCHES, SEARCHES[0]))]
    assert [answer.status_code for answer in asked] == [200, 200, 200]
    client.defaults["REMOTE_ADDR"] = "2001:db8::3"
    for address in (*SEARCHES, f"/assets/{on_sale().slug}/changes"):
        refused = client.get(address)
        assert refused.status_code == 429
        assert 0 < int(refused["Retry-After"]) <= 60
        assert refused["Cache-Control"] == "no-store"
        assert "Wait a minute" in refused.content.decode()
    # Others are not concerned; what costs little is still there, and so is the API, which counts for itself.
    assert client.get(SEARCHES[0], REMOTE_ADDR="2001:db8:0:1::1").status_code == 200
    assert client.get("/").status_code == 200
    assert client.get("/api/v1/assets").status_code == 200


@pytest.mark.usefixtures("_few")
def test_invalid_session_cookie_does_not_avoid_the_rate_limit(client: Client) -> None:
    answers = []
    for number in range(4):
        client.cookies[django_settings.SESSION_COOKIE_NAME] = f"made-up-{number}"
        answers.append(client.get("/browse").status_code)
    assert answers == [200, 200, 200, 429]


@pytest.mark.usefixtures("_few")
def test_signed_in_users_are_not_limited_by_address(browse: Callable[..., Client]) -> None:
    member = browse()
    assert {member.get(address).status_code for address in SEARCHES * 3} == {200}


def test_a_minute_of_search_as_you_type_is_within_the_rate_limit() -> None:
    # The page waits a quarter of a second after each key, so that nobody makes it search more often than this.
    assert django_settings.RATE_LIMITS["browsing"] >= 2 * 60 * 4


def test_shop_works_without_the_rate_limit_store(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marketplace.http.rate_limits.count_call", Mock(side_effect=CounterStoreDown))
    assert client.get("/browse").status_code == 200
