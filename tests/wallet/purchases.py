"""Purchases and quotes through the API, and the check that a refused purchase leaves nothing behind."""

from typing import Any

from rest_framework.test import APIClient

from catalog.models import Listing
from library.models import Licence
from wallet.models import Order, Transfer

URL = "/api/v1/wallet/spend"


def spend(client: APIClient, listing: Listing | str, *, key: str | None = None, **body: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    asset_id = listing if isinstance(listing, str) else str(listing.id)
    return client.post(URL, {"assetId": asset_id, **body}, format="json", headers=headers)


def ask_quote(client: APIClient, listing: Listing, **body: Any) -> Any:
    return client.post("/api/v1/wallet/quote", {"assetId": str(listing.pk), **body}, format="json")


def assert_refused(response: Any, status: int, code: str) -> None:
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert Order.objects.count() == Licence.objects.count() == Transfer.objects.filter(journal__kind="sale").count() == 0
