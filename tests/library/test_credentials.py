"""Verifiable credentials: what they say, whose proof is accepted, and which bits of the status lists are set."""

import base64
import copy
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.db import DatabaseError, transaction
from jwcrypto.jwk import JWK
from rest_framework.test import APIClient

from library import signatures
from library.bounds import STATUS_LIST_LENGTH
from library.certificates import CertificateStatus
from library.models import Licence, StatusListPosition
from library.proofs import add_proof
from library.services.status_lists import status_list_position
from library.verifiable_credentials import check_credential
from marketplace.settings.environment import new_signing_key, redis_caches
from marketplace.web import docs
from marketplace.web.docs.values import EXAMPLES
from tests.races import THREADS, at_once
from tests.servers.ports import free_port
from tests.shop import archive, bought, funded, on_sale
from tests.waiting import PATIENCE_SECONDS
from tests.wallet.top_up_cases import deliver_event, paid_top_up
from wallet.models import Order
from wallet.models.top_ups import EventKind
from wallet.services.refunds import refund_order

from .credentials import altered_copies

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
Client = Callable[..., APIClient]
SCRIPT = EXAMPLES / "check_credential.py"
DID = "/.well-known/did.json"
# Of the context for http://testserver: what was signed under its address must not change.
CONTEXT_DIGEST = "sha384-k7b/egxS+7j0817NAr0llzjME1Yyf4v4MzxJdz6lFKJ+wOsnfZ5+gdZZGIuyT88F"


@pytest.fixture
def order() -> Order:
    return bought(on_sale(archive(), version="1.0"), funded(inr=1_000_000))


@pytest.fixture
def credential(bearer_client: Client, order: Order) -> Any:
    return credential_of(bearer_client, order)


def credential_of(bearer_client: Client, order: Order) -> Any:
    response = bearer_client(order.buyer).get(f"/api/v1/library/{order.listing_id}/credential")
    assert response.status_code == 200
    return response.json()


def lists_of(credential: Any) -> list[Any]:
    """Return the status lists of a credential as they are now, not as they were cached."""
    caches["responses"].clear()
    addresses = [entry["statusListCredential"] for entry in credential["credentialStatus"]]
    return [APIClient().get(address.removeprefix("http://testserver")).json() for address in addresses]


def bits(status_list: Any) -> bytes:
    return gzip.decompress(base64.urlsafe_b64decode(status_list["credentialSubject"]["encodedList"][1:] + "=="))


def ended(credential: Any) -> set[str]:
    """Return for which purposes the credential's bit is set; no other bit is."""
    purposes = set()
    for entry, status_list in zip(credential["credentialStatus"], lists_of(credential), strict=True):
        number, index = int.from_bytes(bits(status_list), "big"), int(entry["statusListIndex"])
        assert number in {0, 1 << (STATUS_LIST_LENGTH - 1 - index)}
        if number:
            purposes.add(entry["statusPurpose"])
    return purposes


def accepted(credential: Any) -> bool:
    return check_credential(credential).status != CertificateStatus.NOT_GENUINE


def test_credential_says_what_the_certificate_says(bearer_client: Client, order: Order, django_assert_max_num_queries: Any) -> None:
    client = bearer_client(order.buyer)
    first = client.get(f"/api/v1/library/{order.listing_id}/credential").json()
    # The caller's credential, the listing, the licence, the terms, the position in a savepoint.
    with django_assert_max_num_queries(7):
        again = client.get(f"/api/v1/library/{order.listing_id}/credential").json()
    certificate = client.get(f"/api/v1/library/{order.listing_id}/certificate").json()["certificate"]
    assert first["credentialSubject"]["certificate"] == certificate
    assert again | {"proof": None} == first | {"proof": None}


def test_credential_with_any_value_altered_is_not_genuine(credential: Any) -> None:
    assert accepted(credential)
    forgeries = altered_copies(credential)
    assert len(forgeries) > 40
    assert [name for name, forged in forgeries.items() if accepted(forged)] == []


def test_malformed_or_foreign_proofs_are_not_genuine(credential: Any, settings: Any) -> None:
    proof = credential["proof"]
    nested: dict[str, Any] = {}
    for _ in range(900):
        nested = {"a": nested}
    own = settings.CERTIFICATE_KEY
    settings.CERTIFICATE_KEY = new_signing_key()
    stranger = add_proof({name: value for name, value in credential.items() if name != "proof"})
    settings.CERTIFICATE_KEY = own
    impostor = stranger | {"proof": stranger["proof"] | {"verificationMethod": proof["verificationMethod"]}}
    forged: list[dict[str, Any]] = [
        {},
        {"proof": {}},
        credential | {"proof": [proof]},
        credential | {"proof": proof | {"proofValue": "z" + "1" * 10_000}},
        credential | {"proof": proof | {"proofValue": proof["proofValue"][1:]}},
        credential | {"proof": proof | {"verificationMethod": None}},
        credential | {"more": 2**60},
        credential | {"more": nested},
        stranger,
        impostor,
        # Signed by us, and no certificate.
        add_proof({"@context": ["https://www.w3.org/ns/credentials/v2"], "credentialSubject": {"id": "x"}}),
        add_proof({"@context": ["https://www.w3.org/ns/credentials/v2"], "credentialSubject": {"certificate": {"certificateId": 5}}}),
        *lists_of(credential),
    ]
    assert [each for each in forged if accepted(each)] == []


def test_credential_outlives_a_change_of_keys(anonymous: APIClient, credential: Any, settings: Any) -> None:
    retired = JWK.from_pem(settings.CERTIFICATE_KEY.encode()).export_to_pem().decode()
    settings.CERTIFICATE_KEY = new_signing_key()
    assert not accepted(credential)
    settings.CERTIFICATE_RETIRED_KEYS = [retired]
    assert accepted(credential)
    did = anonymous.get(DID).json()
    assert [method["id"] for method in did["verificationMethod"]] == did["assertionMethod"]
    assert did["assertionMethod"][1] == credential["proof"]["verificationMethod"]
    assert len(did["assertionMethod"]) == 2


def test_issuer_is_the_host_with_its_port(anonymous: APIClient, settings: Any) -> None:
    settings.BASE_URL = "http://localhost:8000"
    did = anonymous.get(DID).json()
    assert did["id"] == "did:web:localhost%3A8000"
    kid = signatures.public_keys()["keys"][0]["kid"]
    assert did["assertionMethod"] == [f"did:web:localhost%3A8000#{kid}"]


def test_pages_of_other_origins_read_what_a_verifier_needs(anonymous: APIClient, credential: Any) -> None:
    for address in (DID, credential["@context"][1], credential["credentialStatus"][0]["statusListCredential"]):
        assert anonymous.get(address.removeprefix("http://testserver"))["Access-Control-Allow-Origin"] == "*"


def test_status_lists_are_signed_anew_while_the_cache_is_down(anonymous: APIClient, credential: Any, settings: Any) -> None:
    settings.CACHES = redis_caches(f"redis://127.0.0.1:{free_port()}/0")
    assert anonymous.get(credential["credentialStatus"][0]["statusListCredential"]).status_code == 200


def test_json_ld_context_of_the_credential_never_changes(credential: Any) -> None:
    assert credential["relatedResource"] == [{"id": credential["@context"][1], "digestSRI": CONTEXT_DIGEST}]


def test_refund_revokes_the_credential(credential: Any, order: Order) -> None:
    assert ended(credential) == set()
    refund_order(order=order, reason="test", actor=None)
    assert ended(credential) == {"revocation"}


@pytest.mark.parametrize(("end", "purposes"), [(EventKind.DISPUTE_WON, set()), (EventKind.DISPUTE_LOST, {"revocation"})])
def test_dispute_suspends_the_credential_and_revokes_it_if_it_is_lost(bearer_client: Client, end: EventKind, purposes: set[str]) -> None:
    top_up = paid_top_up()
    credential = credential_of(bearer_client, bought(on_sale(), top_up.user))
    deliver_event(top_up, EventKind.DISPUTED)
    assert ended(credential) == {"suspension"}
    deliver_event(top_up, end)
    assert ended(credential) - {"suspension"} == purposes
    assert end == EventKind.DISPUTE_LOST or not ended(credential)


def test_upgrade_suspends_the_credential_until_it_is_refunded(bearer_client: Client, credential: Any, order: Order) -> None:
    second = bought(order.listing, order.buyer, license_slug="commercial", upgrade_from="personal")
    assert ended(credential) == {"suspension"}
    refund_order(order=second, reason="test", actor=None)
    assert ended(credential) == set()


def test_status_list_is_read_again_after_a_minute_only(anonymous: APIClient, credential: Any, django_assert_num_queries: Any) -> None:
    address = credential["credentialStatus"][0]["statusListCredential"].removeprefix("http://testserver")
    first = anonymous.get(address)
    with django_assert_num_queries(0):
        assert anonymous.get(address).json() == first.json()
    assert first["Cache-Control"] == "public, max-age=60"


def test_status_list_that_was_not_begun_is_not_found(anonymous: APIClient, credential: Any) -> None:
    for list_id in ("revocation-1", "revocation-00", "revocation-\u0660", "message-0", "revocation-", "0", "revocation-999999"):
        assert anonymous.get(f"/api/v1/certificates/status-lists/{list_id}").status_code == 404


def test_taken_status_list_position_is_not_assigned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("library.services.status_lists.secrets.randbelow", lambda _limit: 7)
    listing = on_sale()
    positions = [status_list_position(licence=Licence.objects.get(order_id=bought(listing).pk)) for _ in range(3)]
    assert positions == [7, STATUS_LIST_LENGTH + 7, 2 * STATUS_LIST_LENGTH + 7]


def test_database_refuses_changes_of_status_list_positions(credential: Any) -> None:
    for change in (lambda: StatusListPosition.objects.update(position=1), lambda: StatusListPosition.objects.all().delete()):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_concurrent_first_credentials_of_a_licence_get_one_status_list_position(monkeypatch: pytest.MonkeyPatch) -> None:
    listing, other = on_sale(), on_sale()
    licences = [Licence.objects.get(order_id=bought(each).pk) for each in (listing, other)] * (THREADS // 2)
    # All draw from the same few.
    monkeypatch.setattr("library.services.status_lists.secrets.randbelow", lambda _limit: os.urandom(1)[0] % 4)
    positions = at_once(*(lambda each=each: status_list_position(licence=each) for each in licences))
    assert {len(set(positions[place::2])) for place in (0, 1)} == {1}
    assert positions[0] != positions[1]


def checked(folder: Path, did: Any, *documents: Any) -> subprocess.CompletedProcess[str]:
    paths = [folder / f"{place}.json" for place in range(1 + len(documents))]
    for path, document in zip(paths, (did, *documents), strict=True):
        path.write_text(json.dumps(document))
    command = [sys.executable, str(SCRIPT), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


def test_documented_script_distinguishes_valid_ended_and_altered_credentials(
    anonymous: APIClient, credential: Any, order: Order, tmp_path: Path
) -> None:
    did, valid = anonymous.get(DID).json(), lists_of(credential)
    done = checked(tmp_path, did, credential, *valid)
    assert (done.returncode, done.stderr, order.listing.title in done.stdout) == (0, "", True)
    altered = copy.deepcopy(credential)
    altered["credentialSubject"]["certificate"]["version"] = "2.0"
    for documents in ((altered, *valid), (credential, valid[0]), (credential, valid[0], valid[1] | {"validFrom": "2030-01-01T00:00:00Z"})):
        assert "NOT GENUINE" in checked(tmp_path, did, *documents).stderr
    refund_order(order=order, reason="test", actor=None)
    assert "NOT VALID: revocation" in checked(tmp_path, did, credential, *lists_of(credential)).stderr


def test_documentation_shows_the_credential_script_that_the_tests_run() -> None:
    page = docs.documents()["certificates"]
    assert SCRIPT.read_text("utf-8").rstrip() in page.text
