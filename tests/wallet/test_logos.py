"""The logo of a seller on invoices: re-encoded, bounded, and as it was when the invoice was issued."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from PIL import Image

from marketplace.core.errors import Problem
from marketplace.core.models import AuditEntry
from tests.admin.pages import address, staff
from tests.callers import signed_in
from tests.factories import UserFactory
from tests.files.makers import picture
from tests.shop import bought, on_sale
from vendors import bounds
from wallet.invoice_documents import invoice_pdf_response
from wallet.models import Logo, Seller
from wallet.services.billing import change_logo, save_billing_details

from .invoice_cases import BANGALORE, MUMBAI, NUMBERING, billed, buyer_at, issue, operator, rate, vendor_as_seller

pytestmark = pytest.mark.django_db


def images_in(pdf: bytes) -> int:
    return pdf.count(b"/Subtype /Image")


@pytest.mark.slow
def test_invoice_has_the_logo_that_the_seller_had_when_it_was_issued() -> None:
    staff_user = UserFactory(is_staff=True)
    seller = operator()
    rate("IN", 1800)
    bought(on_sale(), buyer_at(MUMBAI))
    (plain,) = issue()
    change_logo(user=None, image=picture(), actor=staff_user)
    bought(on_sale(), buyer_at(MUMBAI))
    _, branded = issue()
    change_logo(user=None, image=b"", actor=staff_user)
    bought(on_sale(), buyer_at(MUMBAI))
    *_, later = issue()
    assert [images_in(invoice_pdf_response(invoice).content) for invoice in (plain, branded, later)] == [0, 1, 0]
    seller.refresh_from_db()
    assert (seller.details.name, seller.details.logo) == (BANGALORE["name"], None)
    sizes = AuditEntry.objects.filter(action="billing.change_logo").order_by("pk").values_list("data__bytes", flat=True)
    assert [size > 0 for size in sizes] == [True, False]


@pytest.mark.slow
def test_logo_of_an_invoice_is_reencoded_smaller_and_without_metadata() -> None:
    vendor = on_sale().store.owner
    vendor_as_seller(vendor)
    exif = Image.Exif()
    exif[0x010E] = "a secret remark"
    for kind in ("JPEG", "WEBP"):
        details = change_logo(user=vendor, image=picture(kind, (1200, 400), exif=exif.tobytes()), actor=vendor)
        assert details.logo is not None
        content = bytes(details.logo.image)
        with Image.open(io.BytesIO(content)) as image:
            assert (image.format, image.size) == ("JPEG", (900, 300))
        assert b"secret" not in content


@pytest.mark.slow
def test_invoice_logo_that_is_no_usable_image_or_of_somebody_without_billing_details_is_refused() -> None:
    vendor, stranger = on_sale().store.owner, UserFactory()
    vendor_as_seller(vendor)
    for user, image, code in (
        (vendor, b"<svg xmlns='http://www.w3.org/2000/svg'/>", "unsupported_type"),
        (vendor, picture()[:60], "file_rejected"),
        (vendor, picture(size=(20_001, 1)), "file_rejected"),
        (vendor, b"\x89PNG" + b"x" * bounds.LOGO_BYTES, "body_too_large"),
        (stranger, picture(), "invalid_input"),
    ):
        with pytest.raises(Problem) as excinfo:
            change_logo(user=user, image=image, actor=user)
        assert excinfo.value.code == code
    assert not Logo.objects.exists()


@pytest.mark.slow
def test_vendor_sets_looks_at_and_removes_the_logo_on_the_billing_page() -> None:
    vendor = on_sale().store.owner
    vendor_as_seller(vendor)
    client, page = signed_in(vendor), reverse("billing-logo")
    assert client.get(page).status_code == 404
    assert client.post(page, {"logo": SimpleUploadedFile("logo.png", picture())}).status_code == 302
    shown = client.get(page)
    assert (shown["Content-Type"], shown.content[:3]) == ("image/jpeg", b"\xff\xd8\xff")
    assert page in client.get(reverse("billing-page")).content.decode()
    for useless in (b"no image", b""):
        assert client.post(page, {"logo": SimpleUploadedFile("logo.png", useless)}).status_code == 302
    details = save_billing_details(user=vendor, values={"city": "Pune"}, actor=vendor)
    assert Seller.objects.get(vendor=vendor).details == details
    assert client.get(page).content == shown.content
    client.post(page, {"remove": "yes"})
    assert client.get(page).status_code == 404


@pytest.mark.slow
def test_logo_page_is_not_found_for_users_who_issue_no_invoices() -> None:
    user = UserFactory()
    billed(user, MUMBAI)
    client, page = signed_in(user), reverse("billing-logo")
    assert client.post(page, {"logo": SimpleUploadedFile("logo.png", picture())}).status_code == 404
    assert page not in client.get(reverse("billing-page")).content.decode()
    assert not Logo.objects.exists()


@pytest.mark.slow
def test_staff_set_and_remove_the_operators_logo_in_the_admin() -> None:
    seller = operator()
    page = address(Seller, "change", seller.pk)
    client = signed_in(staff("wallet.change_seller"))
    assert client.post(page, NUMBERING | BANGALORE | {"logo": SimpleUploadedFile("logo.png", picture())}).status_code == 302
    seller.refresh_from_db()
    assert Logo.objects.get().details.get() == seller.details
    client.post(page, NUMBERING | BANGALORE | {"city": "Mysuru"})
    seller.refresh_from_db()
    assert (seller.details.city, seller.details.logo) == ("Mysuru", Logo.objects.get())
    refused = client.post(page, NUMBERING | BANGALORE | {"logo": SimpleUploadedFile("logo.png", b"no image")}, follow=True)
    assert "The logo was not changed" in refused.content.decode()
    client.post(page, NUMBERING | BANGALORE | {"remove_logo": "on"})
    seller.refresh_from_db()
    assert seller.details.logo_id is None
