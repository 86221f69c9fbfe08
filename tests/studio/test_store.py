"""Opening a store: the application, where it stands, what the vendor says of it."""

from collections.abc import Callable

import pytest
from bs4 import BeautifulSoup
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from catalog.models import Store, StorePicture
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from tests.factories import StoreFactory, UserFactory
from tests.files import makers
from tests.vendors.cases import make_vendor
from tests.web.markup import faults_of
from vendors.models import VendorProfile, VendorStatus
from vendors.services.profiles import reject_vendor, suspend_vendor
from vendors.studio.upload_fields import MESSAGES

from .forms import errors_of, fields_of, form_of

pytestmark = pytest.mark.django_db

Browse = Callable[..., Client]
APPLY = "/dashboard/studio/apply"
COMPLETE = {"store_name": "Quiet Foundry", "store_slug": "quiet-foundry", "bio": "Type.", "links": "https://quiet.example"}


def test_someone_who_does_not_sell_is_led_to_the_application(browse: Browse) -> None:
    client = browse()
    assert client.get(reverse("studio"))["Location"] == APPLY
    for name in ("studio-store", "studio-create"):
        assert client.get(reverse(name), follow=True).redirect_chain[-1][0] == APPLY
    assert faults_of(client.get(APPLY).content) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"store_name": "Foundry \u202egro.knab"}, "store_name"),
        ({"store_name": "字", "store_slug": ""}, "store_slug"),
        ({"links": "javascript:alert(1)"}, "links"),
    ],
)
def test_application_that_is_not_accepted_keeps_what_was_typed(browse: Browse, change: dict[str, str], field: str) -> None:
    response = browse().post(APPLY, COMPLETE | change)
    assert errors_of(response) == [field]
    assert response.context["form"][field].value() == (COMPLETE | change)[field]
    assert not Store.objects.exists()


def test_slug_of_another_store_is_refused_at_its_field(browse: Browse) -> None:
    StoreFactory(slug="quiet-foundry")
    response = browse().post(APPLY, COMPLETE)
    assert errors_of(response) == ["store_slug"]
    assert Store.objects.count() == 1


def test_vendor_application_sent_repeatedly_creates_one_store(browse: Browse) -> None:
    user = UserFactory()
    client = browse(user)
    assert [client.post(APPLY, COMPLETE)["Location"] for _ in range(2)] == [reverse("studio")] * 2
    profile = VendorProfile.objects.get()
    assert (profile.user, profile.store.slug, profile.status) == (user, "quiet-foundry", VendorStatus.PENDING)
    assert profile.application_data == {"links": ["https://quiet.example"]}
    page = client.get(reverse("studio"))
    assert faults_of(page.content) == []
    assert "Your application is being reviewed" in page.content.decode()


def test_empty_store_slug_is_made_of_the_name(browse: Browse) -> None:
    browse().post(APPLY, COMPLETE | {"store_slug": "", "store_name": "Café & Söhne"})
    assert Store.objects.get().slug == "cafe-sohne"


def test_page_of_a_rejected_applicant_does_not_mention_listings_on_sale(browse: Browse, reviewer: User) -> None:
    profile = reject_vendor(profile=make_vendor(VendorStatus.PENDING), reason="No work shown", actor=reviewer)
    page = browse(profile.user).get(reverse("studio")).content.decode()
    assert "Your store was not approved" in page
    assert "No work shown" in page
    assert "off sale" not in page


def test_suspended_vendor_sees_only_the_reason(browse: Browse, vendor: VendorProfile, reviewer: User) -> None:
    suspend_vendor(profile=vendor, reason="Copied work", actor=reviewer)
    client = browse(vendor.user)
    assert "Copied work" in client.get(reverse("studio")).content.decode()
    for name in ("studio-create", "studio-store"):
        assert client.get(reverse(name))["Location"] == reverse("studio")
        assert client.post(reverse(name), {"store_name": "New", "bio": ""})["Location"] == reverse("studio")
    vendor.store.refresh_from_db()
    assert vendor.store.name != "New"


@pytest.mark.parametrize(("change", "field"), [({"store_name": " "}, "store_name"), ({"bio": "\x07"}, "bio")])
def test_invalid_store_form_changes_nothing(client: Client, vendor: VendorProfile, change: dict[str, str], field: str) -> None:
    assert errors_of(client.post(reverse("studio-store"), {"store_name": "New", "bio": "Words"} | change)) == [field]
    vendor.store.refresh_from_db()
    assert vendor.store.name != "New"


def test_renamed_store_is_audited(client: Client, vendor: VendorProfile) -> None:
    before = vendor.store.name
    for _ in range(2):
        assert client.post(reverse("studio-store"), {"store_name": "New", "bio": "Words"})["Location"] == reverse("studio-store")
    vendor.refresh_from_db()
    vendor.store.refresh_from_db()
    assert (vendor.store.name, vendor.bio) == ("New", "Words")
    entry = AuditEntry.objects.get(action="vendor.update")
    assert (entry.actor, entry.data["changed"]) == (vendor.user, ["storeName", "bio"])
    assert not any(text in str(entry.data) for text in (before, "New", "Words"))


def test_store_that_was_changed_in_another_window_is_replaced_only_once_that_was_shown(client: Client, vendor: VendorProfile) -> None:
    address = reverse("studio-store")
    opened = form_of(client, address)
    client.post(address, opened | {"bio": "From the other window"})
    refused = client.post(address, opened | {"bio": "Mine"})
    assert errors_of(refused) == ["bio"]
    assert "From the other window" in str(refused.context["form"].errors["bio"])
    vendor.refresh_from_db()
    assert vendor.bio == "From the other window"
    again = fields_of(BeautifulSoup(refused.content, "html.parser"))
    assert again["bio"] == "Mine"
    assert client.post(address, again)["Location"] == address
    vendor.refresh_from_db()
    assert vendor.bio == "Mine"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"store_slug": "taken"}, "It is taken."),
        ({"store_slug": "download"}, "reserved"),
        ({"store_slug": "\0"}, "Null"),
        ({"store_name": "Fresh Name"}, "/stores/fresh-name"),
        ({}, ""),
    ],
)
def test_store_slug_is_checked_while_typing(browse: Browse, typed: dict[str, str], words: str) -> None:
    StoreFactory(slug="taken")
    answer = browse().get(reverse("studio-store-slug-check"), typed).content.decode()
    assert words in answer
    assert bool(answer.strip()) == bool(words)


@pytest.mark.slow
def test_logo_and_banner_are_uploaded_shown_and_removed_by_plain_forms(browse: Browse) -> None:
    profile = make_vendor()
    client = browse(profile.user)
    for name in ("logo", "banner"):
        assert client.post(reverse(f"studio-{name}-upload"), {"file": SimpleUploadedFile("mine.png", makers.picture())})[
            "Location"
        ] == reverse("studio-store")
    page = client.get(reverse("studio-store"))
    assert faults_of(page.content) == []
    for shown in StorePicture.objects.all():
        assert shown.url in page.content.decode()
    assert faults_of(Client().get(f"/stores/{profile.store.slug}").content) == []
    for _ in range(2):
        assert client.post(reverse("studio-logo-remove"))["Location"] == reverse("studio-store")
    assert [picture.kind for picture in StorePicture.objects.all()] == ["Banner"]


@pytest.mark.slow
def test_refused_logo_is_told_beside_its_field(browse: Browse) -> None:
    page = browse(make_vendor().user).post(reverse("studio-logo-upload"), {"file": SimpleUploadedFile("logo.png", b"no picture")})
    assert page.status_code == 415
    assert MESSAGES["unsupported_type"].partition("{detail} ")[2] in page.content.decode()
    assert not StorePicture.objects.exists()
