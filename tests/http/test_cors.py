"""What scripts of other origins may send and read."""

from typing import Any

import pytest
from rest_framework.test import APIClient

ORIGIN = "https://shop.example"
SPEND = "/api/v1/wallet/spend"


def preflight(client: APIClient, headers: str) -> Any:
    return client.options(
        SPEND,
        HTTP_ORIGIN=ORIGIN,
        HTTP_ACCESS_CONTROL_REQUEST_METHOD="POST",
        HTTP_ACCESS_CONTROL_REQUEST_HEADERS=headers,
    )


@pytest.mark.django_db
def test_origin_that_is_not_listed_may_not_spend(anonymous: APIClient) -> None:
    assert "Access-Control-Allow-Origin" not in preflight(anonymous, "authorization")


def test_listed_origin_may_send_what_spending_takes_but_no_key(anonymous: APIClient, settings: Any) -> None:
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    answer = preflight(anonymous, "authorization,content-type,idempotency-key,x-request-id")
    allowed = set(answer["Access-Control-Allow-Headers"].split(", "))
    assert answer["Access-Control-Allow-Origin"] == ORIGIN
    assert allowed >= {"authorization", "content-type", "idempotency-key", "x-request-id", "if-none-match"}
    assert "x-api-key" not in allowed


@pytest.mark.django_db
def test_listed_origin_may_read_whether_a_response_was_replayed(anonymous: APIClient, settings: Any) -> None:
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    answer = anonymous.post(SPEND, {}, format="json", HTTP_ORIGIN=ORIGIN)
    assert {"Idempotent-Replayed", "ETag", "Retry-After"} <= set(answer["Access-Control-Expose-Headers"].split(", "))
