"""The page on which everyone verifies a licence certificate: pasted, uploaded or by its ID."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from library.models import Licence
from tests.shop import archive, bought, funded, on_sale
from wallet.models import Order
from wallet.services.refunds import refund_order

pytestmark = pytest.mark.django_db
PAGE = "/certificates/verify"
VALID, REVOKED, NOT_OURS = "The licence is valid", "The licence is no longer valid", "This is not a certificate of ours"


@pytest.fixture
def order() -> Order:
    return bought(on_sale(archive(), title="Halden Grotesk", version="1.0"), funded(inr=1_000_000))


@pytest.fixture
def saved(order: Order, browse: Callable[..., Client]) -> str:
    """The signed certificate as its holder saves it from the library."""
    answer = browse(order.buyer).get(reverse("library-item-certificate-signed", args=[order.listing.slug]))
    assert answer["Content-Disposition"].startswith("attachment")
    return answer.content.decode()


def result_of(answer: Any) -> tuple[str, str]:
    assert answer.status_code == 200
    page = BeautifulSoup(answer.content, "html.parser").find("section", role="status")
    return (page.select("h2")[0].get_text(strip=True), page.get_text(" ", strip=True)) if page else ("", "")


def uploaded(client: Client, content: bytes) -> Any:
    return client.post(PAGE, {"file": SimpleUploadedFile("certificate.json", content)})


def test_certificate_form_without_a_csrf_token_is_refused(saved: str) -> None:
    assert Client(enforce_csrf_checks=True).post(PAGE, {"text": saved}).status_code == 403


@pytest.mark.slow
def test_pasted_or_uploaded_certificate_shows_what_it_says(client: Client, saved: str, order: Order) -> None:
    jws = json.loads(saved)["jws"]
    wrapped = "\n".join(jws[start : start + 70] for start in range(0, len(jws), 70))
    for answer in (*(client.post(PAGE, {"text": text}) for text in (f"  {wrapped}\n", saved)), uploaded(client, saved.encode())):
        heading, told = result_of(answer)
        assert heading == VALID
        assert "Halden Grotesk" in told
        assert order.buyer.email in told


def test_altered_certificate_is_not_genuine(client: Client, saved: str) -> None:
    head, payload, signature = json.loads(saved)["jws"].split(".")
    for text in (f"{head}.{payload[:-2]}AA.{signature}", "a.b.c", "{", '{"jws": 5}', "[]", "word"):
        heading, told = result_of(client.post(PAGE, {"text": text}))
        assert (heading, "Halden" in told) == (NOT_OURS, False), text


@pytest.mark.slow
def test_verifiable_credential_is_verified_like_the_certificate(client: Client, order: Order, browse: Callable[..., Client]) -> None:
    answer = browse(order.buyer).get(reverse("library-item-credential", args=[order.listing.slug]))
    assert answer["Content-Disposition"].startswith("attachment")
    heading, told = result_of(uploaded(client, answer.content))
    assert (heading, order.buyer.email in told) == (VALID, True)


def test_refunded_licence_is_revoked_by_text_and_by_id(client: Client, saved: str, order: Order, admin_user: Any) -> None:
    licence = Licence.objects.get(holder=order.buyer)
    refund_order(order=order, reason="Mistake", actor=admin_user)
    assert result_of(client.post(PAGE, {"text": saved}))[0] == REVOKED
    assert result_of(client.get(PAGE, {"id": str(licence.pk)}))[0] == REVOKED


def test_id_shows_the_licence_and_not_its_holder(client: Client, order: Order) -> None:
    licence = Licence.objects.get(holder=order.buyer)
    for answer in (client.get(PAGE, {"id": str(licence.pk)}), client.post(PAGE, {"text": f" {licence.pk} "})):
        heading, told = result_of(answer)
        assert heading == VALID
        assert licence.deliverable.sha256 in told
        assert order.buyer.email not in told


@pytest.mark.parametrize("given", ["01900000-0000-7000-8000-000000000000", "\x00"])
def test_unknown_certificate_id_is_not_genuine(client: Client, given: str) -> None:
    assert result_of(client.get(PAGE, {"id": given}))[0] == NOT_OURS


@pytest.mark.parametrize("content", [b"%PDF-1.7 ...", b""])
def test_upload_that_is_no_certificate_is_an_error_at_the_field(client: Client, content: bytes) -> None:
    answer = uploaded(client, content)
    assert result_of(answer) == ("", "")
    assert answer.context["form"].errors.keys() == {"file"}


def test_form_without_a_certificate_is_refused(client: Client) -> None:
    answer = client.post(PAGE, {"text": " "})
    assert result_of(answer) == ("", "")
    assert answer.context["form"].non_field_errors()


@pytest.mark.parametrize("length", [str(2**30), "many", "²"])
def test_body_that_is_too_large_is_refused_unread(client: Client, length: str) -> None:
    assert client.post(PAGE, {"text": "x"}, CONTENT_LENGTH=length).status_code == 413


def test_verification_of_certificates_is_rate_limited(client: Client, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"browsing": 2}
    assert [client.post(PAGE, {"text": "a.b.c"}).status_code for _ in range(3)] == [200, 200, 429]
