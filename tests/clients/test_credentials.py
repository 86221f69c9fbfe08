"""The libraries of Digital Bazaar accept our verifiable credentials, refuse altered ones, and see when a licence ended."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from rest_framework.test import APIClient

from tests.library.credentials import altered_copies
from tests.shop import archive, bought, funded, on_sale
from tests.wallet.topping_up import paid, tell
from wallet.models import Order
from wallet.models.top_ups import EventKind
from wallet.services.refunds import refund_order

from .conftest import Runs
from .tools import HERE

pytestmark = [pytest.mark.full, pytest.mark.django_db]
Verifies = Callable[[dict[str, Any]], dict[str, Any]]
VALID = {"verified": True, "ended": [], "error": ""}


def get(address: str) -> Any:
    return APIClient().get(address.removeprefix("http://testserver")).json()


@pytest.fixture
def issue(bearer_client: Callable[..., APIClient]) -> Callable[[Order], Any]:
    """Return the credential of a purchase."""
    return lambda order: bearer_client(order.buyer).get(f"/api/v1/library/{order.listing_id}/credential").json()


@pytest.fixture
def verify(node_modules: Path, run: Runs, tmp_path: Path) -> Verifies:
    """Return what the libraries find of credentials, with the issuer's documents as they are now."""
    (tmp_path / "node_modules").symlink_to(node_modules)
    (tmp_path / "credentials.mjs").write_bytes((HERE / "credentials.mjs").read_bytes())

    def verify(credentials: dict[str, Any]) -> dict[str, Any]:
        cache.clear()
        did = get("/.well-known/did.json")
        documents = {did["id"]: did}
        for purpose in ("revocation", "suspension"):
            status_list = get(f"/api/v1/certificates/status-lists/{purpose}-0")
            documents[status_list["id"]] = status_list
        context = next(iter(credentials.values()))["@context"][1]
        documents[context] = get(context)
        path = tmp_path / "credentials.json"
        path.write_text(json.dumps({"credentials": credentials, "documents": documents}))
        found: dict[str, Any] = json.loads(run("node", "credentials.mjs", path))
        return found

    return verify


def test_credential_is_accepted_until_a_value_of_it_is_altered(issue: Callable[[Order], Any], verify: Verifies) -> None:
    credential = issue(bought(on_sale(archive(), version="1.0"), funded(inr=1_000_000)))
    forged = altered_copies(credential)
    found = verify({"as issued": credential, **forged})
    assert found.pop("as issued") == VALID
    assert len(found) == len(forged) > 40
    assert [name for name, result in found.items() if result["verified"]] == []


def test_refund_is_seen_in_the_status(issue: Callable[[Order], Any], verify: Verifies) -> None:
    order = bought(on_sale(), funded(inr=1_000_000))
    credential = issue(order)
    assert verify({"it": credential})["it"] == VALID
    refund_order(order=order, reason="test", actor=None)
    assert verify({"it": credential})["it"] == VALID | {"ended": ["revocation"]}


def test_dispute_is_seen_in_the_status_until_it_is_won(issue: Callable[[Order], Any], verify: Verifies) -> None:
    top_up = paid()
    credential = issue(bought(on_sale(), top_up.user))
    tell(top_up, EventKind.DISPUTED)
    assert verify({"it": credential})["it"] == VALID | {"ended": ["suspension"]}
    tell(top_up, EventKind.DISPUTE_WON)
    assert verify({"it": credential})["it"] == VALID
