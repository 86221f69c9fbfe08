"""The id of a request is in every line that is logged on its behalf, and in none after it."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from marketplace.api.problems import exception_handler
from marketplace.core.ids import current_request_id
from marketplace.monitoring.logs import RequestIdFilter

pytestmark = pytest.mark.django_db
GIVEN = "given-request-id"


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture, settings: Any) -> Iterator[pytest.LogCaptureFixture]:
    settings.ACCESS_LOG = True
    caplog.set_level(logging.INFO, "marketplace.access")
    # Django's own logger hands nothing on to the root, where pytest listens.
    logging.getLogger("django").addHandler(caplog.handler)
    caplog.handler.addFilter(stamp := RequestIdFilter())
    yield caplog
    caplog.handler.removeFilter(stamp)
    logging.getLogger("django").removeHandler(caplog.handler)


def test_refusal_is_logged_under_its_id(anonymous: APIClient, lines: Any) -> None:
    anonymous.get("/api/v1/wallet", HTTP_X_REQUEST_ID=GIVEN)
    assert [record.request_id for record in lines.records if record.name == "marketplace.access"] == [GIVEN]
    assert current_request_id() == "-"


@pytest.mark.parametrize("given", ["two words", "-", "x" * 65, "a\nb"])
def test_malformed_id_is_replaced(given: str, anonymous: APIClient, lines: Any) -> None:
    response = anonymous.get("/api/v1/wallet", HTTP_X_REQUEST_ID=given)
    assert {record.request_id for record in lines.records} == {response["X-Request-Id"]}
    assert response["X-Request-Id"] != given


@pytest.mark.parametrize("given", ["1", "x" * 64])
def test_short_and_long_ids_are_echoed(given: str, anonymous: APIClient) -> None:
    assert anonymous.get("/api/v1/wallet", HTTP_X_REQUEST_ID=given)["X-Request-Id"] == given


def test_path_cannot_forge_a_log_line(rf: Any, lines: Any) -> None:
    exception_handler(RuntimeError(), {"request": rf.get("/api/v1/assets/a%0AINFO%20forged")})
    message = lines.records[-1].getMessage()
    assert "INFO forged" in message
    assert "\n" not in message
