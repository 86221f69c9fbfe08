"""Licence certificates: what they say, who gets one, and that nobody can make or alter one."""

import base64
import hashlib
import io
import zipfile
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS
from rest_framework.test import APIClient

from catalog.ai_use import training_sentence
from catalog.models import LicenseTerms, Listing
from catalog.services.taxonomy import publish_terms
from library import signatures
from library.models import Licence
from library.services.links import issue_link, url_of
from marketplace.settings.environment import new_signing_key
from tests.contract.calls import refused
from tests.factories import UserFactory
from tests.shop import archive, bought, funded, on_sale
from wallet.models import Order
from wallet.services.refunds import refund_order

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
Client = Callable[..., APIClient]
VERIFY = "/api/v1/certificates/verify"


@pytest.fixture
def order() -> Order:
    return bought(on_sale(archive(), version="1.0"), funded(inr=1_000_000))


def url(order: Order, ending: str = "") -> str:
    return f"/api/v1/library/{order.listing_id}/certificate{ending}"


def certificate(client: APIClient, order: Order, **query: str) -> Any:
    return client.get(url(order), query).json()


def verdict(client: APIClient, jws: str) -> Any:
    response = client.post(VERIFY, {"jws": jws}, format="json")
    assert response.status_code == 200
    return response.json()


def encoded(data: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(data)).decode().rstrip("=")


def test_certificate_names_licence_version_file_and_order(bearer_client: Client, order: Order, django_assert_max_num_queries: Any) -> None:
    client = bearer_client(order.buyer)
    client.get(url(order))
    # The credential, the listing, the licence, the terms of its time.
    with django_assert_max_num_queries(4):
        answer = certificate(client, order)
    claims, licence = answer["certificate"], Licence.objects.get(order_id=order.id)
    assert claims["certificateId"] == str(licence.id)
    assert claims["licensee"] == {"id": str(order.buyer_id), "email": order.buyer.email, "name": None}
    assert (claims["license"]["slug"], claims["version"], claims["orderId"]) == ("personal", "1.0", str(order.id))
    assert claims["file"]["checksum"] == hashlib.sha256(archive()).hexdigest()
    assert claims["file"]["size"] == len(archive())
    assert claims["license"]["termsSha256"] == hashlib.sha256(licence.terms.text.encode()).hexdigest()


def test_licence_keeps_the_term_for_ai_training_of_its_purchase(anonymous: APIClient, bearer_client: Client, order: Order) -> None:
    Listing.objects.update(ai_training="allowed")
    answer = certificate(bearer_client(order.buyer), order)
    assert answer["certificate"]["license"]["aiTraining"] == "forbidden"
    assert anonymous.get(f"/api/v1/certificates/{answer['certificate']['certificateId']}").json()["aiTraining"] == "forbidden"
    assert bearer_client(order.buyer).get("/api/v1/library").json()["items"][0]["aiTraining"] == "forbidden"
    package: Any = anonymous.get(url_of(issue_link(licence=Licence.objects.get(order_id=order.id))))
    assert package.headers["Content-Usage"] == "train-ai=n"
    with zipfile.ZipFile(io.BytesIO(b"".join(package.streaming_content))) as opened:
        assert training_sentence("forbidden") in opened.read("LICENSE.txt").decode()


def test_purchase_after_a_change_has_the_new_term(anonymous: APIClient, bearer_client: Client) -> None:
    order = bought(on_sale(archive(), ai_training="by_licence"))
    assert certificate(bearer_client(order.buyer), order)["certificate"]["license"]["aiTraining"] == "by_licence"
    package = anonymous.get(url_of(issue_link(licence=Licence.objects.get(order_id=order.id))))
    assert "Content-Usage" not in package.headers


def test_widest_tier_is_certified_unless_another_is_named(bearer_client: Client, order: Order) -> None:
    bought(order.listing, order.buyer, license_slug="extended")
    client = bearer_client(order.buyer)
    assert certificate(client, order)["certificate"]["license"]["slug"] == "extended"
    assert certificate(client, order, licenseSlug="personal")["certificate"]["license"]["slug"] == "personal"
    refused(client.get(url(order), {"licenseSlug": "commercial"}), 403, "not_owned")


def test_certificate_signature_is_verified_by_jwcrypto_with_the_published_key(
    anonymous: APIClient, bearer_client: Client, order: Order
) -> None:
    answer = certificate(bearer_client(order.buyer), order)
    (key,) = anonymous.get("/api/v1/certificates/keys").json()["keys"]
    token = JWS()
    token.allowed_algs = ["EdDSA"]
    token.deserialize(answer["jws"], JWK(**{name: key[name] for name in ("kty", "crv", "x")}))
    assert orjson.loads(token.payload) == answer["certificate"]
    assert token.jose_header["kid"] == key["kid"]


def test_genuine_certificate_is_valid_until_a_refund_revokes_it(anonymous: APIClient, bearer_client: Client, order: Order) -> None:
    answer = certificate(bearer_client(order.buyer), order)
    assert verdict(anonymous, answer["jws"]) == {"valid": True, "status": "valid", "revokedAt": None, "certificate": answer["certificate"]}
    state = anonymous.get(answer["statusUrl"]).json()
    assert (state["status"], state["checksum"]) == ("valid", answer["certificate"]["file"]["checksum"])
    assert order.buyer.email not in str(state)
    refund_order(order=order, reason="test", actor=None)
    checked = verdict(anonymous, answer["jws"])
    assert (checked["valid"], checked["status"]) == (False, "revoked")
    assert checked["revokedAt"].endswith("Z")
    assert anonymous.get(answer["statusUrl"]).json()["status"] == "revoked"
    refused(bearer_client(order.buyer).get(url(order)), 403, "not_owned")


def _signed(claims: Any, key: JWK, **header: str) -> str:
    token = JWS(orjson.dumps(claims))
    token.add_signature(key, protected=orjson.dumps({"typ": signatures.CERTIFICATE_TYPE} | header).decode())
    return str(token.serialize(compact=True))


def _forgeries(jws: str) -> dict[str, str]:
    header, payload, signature = jws.split(".")
    claims = orjson.loads(base64.urlsafe_b64decode(payload + "=="))
    own = JWK.from_pem(new_signing_key().encode())
    public = JWK(**{name: signatures.public_keys()["keys"][0][name] for name in ("kty", "crv", "x")})
    kid = public.thumbprint()
    as_secret = JWK(kty="oct", k=public.export_public(as_dict=True)["x"])
    return {
        "altered": f"{header}.{encoded(claims | {'version': '9.9'})}.{signature}",
        "algorithm none": f"{encoded({'alg': 'none', 'kid': kid, 'typ': signatures.CERTIFICATE_TYPE})}.{payload}.",
        "key of a stranger": _signed(claims, own, alg="EdDSA", kid=own.thumbprint()),
        "our key's name, another key": _signed(claims, own, alg="EdDSA", kid=kid),
        "public key as a shared secret": _signed(claims, as_secret, alg="HS256", kid=kid),
        "another type": signatures.sign(claims, token_type="JWT"),
        "JSON form with dots": orjson.dumps(
            {"payload": payload, "protected": header, "signature": signature, "header": {"x": ".."}}
        ).decode(),
        "padded": f"{jws}==",
        "nested too deep": "[" * 15_000,
        "nonsense": "a.b.c",
        "header is a list": f"{encoded([])}.{payload}.{signature}",
        "unknown licence": signatures.sign(claims | {"certificateId": str(UserFactory().pk)}),
        "id is no text": signatures.sign(claims | {"certificateId": 5}),
        "claims are a list": signatures.sign([1]),  # type: ignore[arg-type]  # what we never sign
    }


def test_forged_certificates_are_not_genuine(anonymous: APIClient, bearer_client: Client, order: Order) -> None:
    for name, forged in _forgeries(certificate(bearer_client(order.buyer), order)["jws"]).items():
        expected = {"valid": False, "status": "notGenuine", "revokedAt": None, "certificate": None}
        assert verdict(anonymous, forged) == expected, name


def test_certificate_outlives_a_change_of_keys(anonymous: APIClient, bearer_client: Client, order: Order, settings: Any) -> None:
    jws = certificate(bearer_client(order.buyer), order)["jws"]
    retired = settings.CERTIFICATE_KEY
    settings.CERTIFICATE_KEY = new_signing_key()
    assert verdict(anonymous, jws)["status"] == "notGenuine"
    settings.CERTIFICATE_RETIRED_KEYS = [retired]
    assert verdict(anonymous, jws)["status"] == "valid"
    keys = anonymous.get("/api/v1/certificates/keys").json()["keys"]
    assert [set(key) for key in keys] == [{"kty", "crv", "x", "alg", "use", "kid"}] * 2
    # A retired key verifies and never signs.
    assert certificate(bearer_client(order.buyer), order)["jws"].split(".")[0] != jws.split(".")[0]


def test_certificate_keeps_the_terms_of_the_purchase(anonymous: APIClient, bearer_client: Client, order: Order) -> None:
    before = order.terms
    new = LicenseTerms(tier=order.tier, text="Stricter than before.")
    publish_terms(terms=new, changed=["text"], actor=UserFactory(is_staff=True))
    later = bought(order.listing)
    for kept, terms in ((order, before), (later, new)):
        caller = bearer_client(kept.buyer)
        claims = certificate(caller, kept)["certificate"]["license"]
        assert (claims["termsVersion"], claims["termsSha256"]) == (terms.version, hashlib.sha256(terms.text.encode()).hexdigest())
        shown = caller.get(f"/api/v1/orders/{kept.id}").json()
        assert (shown["termsVersion"], shown["termsSha256"]) == (claims["termsVersion"], claims["termsSha256"])
        link = issue_link(licence=Licence.objects.get(order_id=kept.id))
        data = b"".join(anonymous.get(url_of(link)).streaming_content)  # type: ignore[attr-defined]  # a streamed answer
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            assert package.read("LICENSE.txt").decode().endswith(f"\n\n{terms.text}\n")


def test_certificate_is_downloaded_as_a_pdf(bearer_client: Client, order: Order) -> None:
    response = bearer_client(order.buyer).get(url(order, ".pdf"))
    assert (response.status_code, response["Content-Type"]) == (200, "application/pdf")
    assert response["Content-Disposition"] == f'attachment; filename="licence-{order.listing.slug}.pdf"'
    assert response["Cache-Control"] == "private, no-store"
    assert response.content.startswith(b"%PDF-")
