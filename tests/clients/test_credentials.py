"""The libraries of Digital Bazaar accept our verifiable credentials, refuse altered ones, and see when a licence ended."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from django.core.cache import caches
from rest_framework.test import APIClient

from library.proofs import add_proof
from marketplace.settings.environment import new_signing_key
from tests.library.credentials import altered_copies
from tests.shop import archive, bought, funded, on_sale
from tests.wallet.top_up_cases import deliver_event, paid_top_up
from wallet.models import Order
from wallet.models.top_ups import EventKind
from wallet.services.refunds import refund_order

from .conftest import Runs
from .tools import HERE

pytestmark = [pytest.mark.full, pytest.mark.django_db]
Verifies = Callable[..., dict[str, Any]]
VALID = {"verified": True, "ended": [], "error": ""}


def get(address: str) -> Any:
    return APIClient().get(address.removeprefix("http://testserver")).json()


@pytest.fixture
def issue(bearer_client: Callable[..., APIClient]) -> Callable[[Order], Any]:
    return lambda order: bearer_client(order.buyer).get(f"/api/v1/library/{order.listing_id}/credential").json()


@pytest.fixture
def verify(node_modules: Path, run: Runs, tmp_path: Path) -> Verifies:
    """Return what the libraries find of credentials, with the issuer's documents as they are now, but for those that are given."""
    (tmp_path / "node_modules").symlink_to(node_modules)
    (tmp_path / "credentials.mjs").write_bytes((HERE / "credentials.mjs").read_bytes())

    def verify(credentials: dict[str, Any], given: dict[str, Any] | None = None) -> dict[str, Any]:
        caches["responses"].clear()
        did = get("/.well-known/did.json")
        documents = {did["id"]: did}
        for purpose in ("revocation", "suspension"):
            status_list = get(f"/api/v1/certificates/status-lists/{purpose}-0")
            documents[status_list["id"]] = status_list
        context = next(iter(credentials.values()))["@context"][1]
        documents[context] = get(context)
        path = tmp_path / "credentials.json"
        path.write_text(json.dumps({"credentials": credentials, "documents": documents | (given or {})}))
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


def test_refund_and_dispute_are_seen_in_the_status_unless_the_list_was_altered_or_is_of_another_issuer(
    issue: Callable[[Order], Any], verify: Verifies, settings: Any
) -> None:
    order, top_up = bought(on_sale(), funded(inr=1_000_000)), paid_top_up()
    credential, disputed = issue(order), issue(bought(on_sale(), top_up.user))
    address = credential["credentialStatus"][0]["statusListCredential"]
    before = get(address)
    refund_order(order=order, reason="test", actor=None)
    deliver_event(top_up, EventKind.DISPUTED)
    caches["responses"].clear()
    after = get(address)
    found = verify({"refunded": credential, "disputed": disputed})
    assert [each["ended"] for each in found.values()] == [["revocation"], ["suspension"]]
    assert all(each["verified"] for each in found.values())
    altered = after | {"credentialSubject": before["credentialSubject"]}
    settings.CERTIFICATE_KEY, own = new_signing_key(), settings.CERTIFICATE_KEY
    forged = add_proof({name: value for name, value in before.items() if name != "proof"})
    settings.CERTIFICATE_KEY = own
    for given in (altered, forged):
        assert not verify({"it": credential}, {address: given})["it"]["verified"]


def test_credential_of_a_retired_key_is_accepted_while_the_key_is_listed(
    issue: Callable[[Order], Any], verify: Verifies, settings: Any
) -> None:
    credential = issue(bought(on_sale(), funded(inr=1_000_000)))
    retired = load_pem_private_key(settings.CERTIFICATE_KEY.encode(), None).public_key()
    settings.CERTIFICATE_KEY = new_signing_key()
    settings.CERTIFICATE_RETIRED_KEYS = [retired.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()]
    assert verify({"it": credential})["it"] == VALID
    settings.CERTIFICATE_RETIRED_KEYS = []
    assert not verify({"it": credential})["it"]["verified"]
