"""A listing's sections: details, prices, licences; two windows at once, and a listing that locked meanwhile."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from catalog.ai_use import training_sentence
from catalog.models import Listing
from tests.factories import ListingFactory
from tests.vendors.cases import make_vendor
from tests.web.markup import faults_of
from vendors.models import VendorProfile
from vendors.services.listings import update_listing
from vendors.services.profiles import set_commission

from .cases import submitted
from .forms import at, errors_of, fields_of, form_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("section", "change", "field"),
    [
        ("details", {"category": "nothing"}, "category"),
        ("details", {"ai_origin": "none", "ai_parts": "The cover."}, "ai_parts"),
        ("prices", {"price_eur_minor": "0.001"}, "price_eur_minor"),
        ("licences", {"permit": "some", "slugs": ["galactic"]}, "slugs"),
    ],
)
def test_section_that_is_not_accepted_keeps_what_was_typed_and_saves_nothing(
    client: Client, listing: Listing, section: str, change: dict[str, Any], field: str
) -> None:
    before = Listing.objects.values().get(pk=listing.pk)
    typed = {"title": "Changed", "base_price_minor": "77", "readme": "Changed"} | change
    response = client.post(at(section, listing), form_of(client, at(section, listing)) | typed)
    assert errors_of(response) == [field]
    assert response.context["form"][field].value() == change[field]
    assert Listing.objects.values().get(pk=listing.pk) == before


@pytest.mark.parametrize("name", ["details", "prices", "licences"])
def test_saving_an_unchanged_form_changes_nothing(client: Client, listing: Listing, name: str) -> None:
    Listing.objects.filter(pk=listing.pk).update(
        tags=["a, b", "c"],
        description="\n# Two\n\nlines \n",
        readme=" indented\n",
        allowed_license_slugs=["personal"],
        price_inr_minor=49_950,
        discount_bp=1_250,
    )
    before = Listing.objects.values().get(pk=listing.pk)
    assert client.post(at(name, listing), form_of(client, at(name, listing)))["Location"] == at(name, listing)
    assert Listing.objects.values().get(pk=listing.pk) == before


@pytest.mark.slow
def test_details_are_saved_and_statements_about_ai_are_shown_to_buyers(client: Client, listing: Listing) -> None:
    sent = {"title": "Aurora Serif", "tags": "Serif, warm\nbook", "video_url": "https://v.example/1", "description": "One\r\nTwo"}
    about_ai = {"ai_training": "allowed", "ai_origin": "declared", "ai_parts": "The cover, with a generator."}
    client.post(at("details", listing), form_of(client, at("details", listing)) | sent | about_ai)
    listing.refresh_from_db()
    assert (listing.title, listing.tags, listing.description) == ("Aurora Serif", ["serif", "warm", "book"], "One\nTwo")
    assert {name: getattr(listing, name) for name in about_ai} == about_ai
    page = client.get(reverse("studio-preview", args=[listing.slug])).content.decode()
    assert about_ai["ai_parts"] in page
    assert training_sentence("allowed") in page


@pytest.mark.slow
def test_licences_are_saved(client: Client, listing: Listing) -> None:
    client.post(
        at("licences", listing), form_of(client, at("licences", listing)) | {"permit": "some", "slugs": ["commercial"], "readme": "Hi"}
    )
    listing.refresh_from_db()
    assert (listing.allowed_license_slugs, listing.readme) == (["commercial"], "Hi")
    client.post(at("licences", listing), form_of(client, at("licences", listing)) | {"permit": "some", "slugs": ["personal"] * 30})
    listing.refresh_from_db()
    assert listing.allowed_license_slugs == ["personal"]
    client.post(at("licences", listing), form_of(client, at("licences", listing)) | {"permit": "every"})
    listing.refresh_from_db()
    assert listing.allowed_license_slugs is None


@pytest.mark.slow
def test_prices_tell_what_buyers_pay_and_the_vendor_gets(client: Client, vendor: VendorProfile, listing: Listing) -> None:
    set_commission(profile=vendor, commission_rate_bp=1_000, reason="Agreed", actor=make_vendor().user)
    sent = {"base_price_minor": "100", "price_inr_minor": "", "price_eur_minor": "90", "discount_bp": "20", "tax_rate_bp": "25"}
    page = client.post(at("prices", listing), form_of(client, at("prices", listing)) | sent, follow=True).content.decode()
    # 100 less 20 percent: 80, of which 16 are tax; of 64 the platform keeps 6.40.
    for words in ("$80.00", "$100.00", "$16.00", "$6.40", "$57.60", "Not on sale in INR: no price is set"):
        assert words in page
    # Nothing is bought in euros.
    assert "€" not in page
    # Twice that for the commercial licence.
    assert "$115.20" in page


@pytest.mark.slow
def test_price_split_is_shown_while_typing_and_nothing_is_saved(client: Client, listing: Listing) -> None:
    before = Listing.objects.values().get(pk=listing.pk)
    sent = form_of(client, at("prices", listing))
    told = client.post(at("split", listing), sent | {"base_price_minor": "50", "price_inr_minor": "x"}).content.decode()
    assert "$50.00" in told
    assert "$40.00" in told
    assert "not saved yet" in told
    assert "It is free" in client.post(at("split", listing), sent | {"price_eur_minor": "0"}).content.decode()
    assert client.post(at("split", listing), {}).status_code == 200
    assert client.get(at("split", listing)).status_code == 405
    assert Listing.objects.values().get(pk=listing.pk) == before


def test_listing_without_an_active_licence_says_so_instead_of_a_price(client: Client, listing: Listing) -> None:
    Listing.objects.filter(pk=listing.pk).update(allowed_license_slugs=["gone"])
    assert "None of the licences that you allow is active" in client.get(at("prices", listing)).content.decode()


@pytest.mark.slow
def test_other_field_changed_in_another_window_is_kept(client: Client, listing: Listing) -> None:
    opened = form_of(client, at("details", listing))
    update_listing(listing=listing, actor=listing.store.owner, version="2.0")
    assert client.post(at("details", listing), opened | {"title": "Aurora Serif"}).status_code == 302
    listing.refresh_from_db()
    assert (listing.title, listing.version) == ("Aurora Serif", "2.0")


@pytest.mark.parametrize(
    ("section", "saved"),
    [("details", {"title": "Typed"}), ("prices", {"base_price_minor": 7_700}), ("licences", {"readme": "Typed"})],
)
def test_section_is_saved_although_the_address_was_changed_in_another_window(
    client: Client, listing: Listing, section: str, saved: dict[str, Any]
) -> None:
    page = BeautifulSoup(client.get(at(section, listing)).content, "html.parser")
    form = next(each for each in page.select("main form") if each.select("[name=seen]"))
    update_listing(listing=listing, actor=listing.store.owner, slug="renamed")
    typed = {"title": "Typed", "base_price_minor": "77", "readme": "Typed"}
    renamed = Listing.objects.get(pk=listing.pk)
    assert client.post(str(form["action"]), fields_of(page) | typed)["Location"] == at(section, renamed)
    assert Listing.objects.filter(pk=listing.pk, slug="renamed", **saved).exists()


@pytest.mark.slow
def test_field_changed_in_another_window_is_replaced_only_after_a_warning(client: Client, listing: Listing) -> None:
    opened = form_of(client, at("details", listing))
    update_listing(listing=listing, actor=listing.store.owner, title="Aurora Text", version="2.0")
    response = client.post(at("details", listing), opened | {"title": "Aurora Serif"})
    assert response.status_code == 400
    assert faults_of(response.content) == []
    assert list(response.context["form"].errors) == ["title", "__all__"]
    assert "changed to “Aurora Text” in the meantime" in response.content.decode()
    assert response.context["form"]["title"].value() == "Aurora Serif"
    listing.refresh_from_db()
    assert listing.title == "Aurora Text"
    again = fields_of(BeautifulSoup(response.content, "html.parser"))
    assert client.post(at("details", listing), again).status_code == 302
    listing.refresh_from_db()
    assert listing.title == "Aurora Serif"


@pytest.mark.slow
def test_same_change_in_two_windows_is_no_conflict(client: Client, listing: Listing) -> None:
    opened = form_of(client, at("licences", listing)) | {"readme": "Same"}
    assert [client.post(at("licences", listing), opened).status_code for _ in range(2)] == [302, 302]


@pytest.mark.slow
@pytest.mark.parametrize("seen", ["", "[]", "[" * 1999, '{"title": 1}'])
def test_form_without_valid_shown_values_overwrites_nothing(client: Client, listing: Listing, seen: str) -> None:
    sent = form_of(client, at("details", listing)) | {"title": "Blind", "seen": seen}
    assert client.post(at("details", listing), sent).status_code == 400
    listing.refresh_from_db()
    assert listing.title == "Aurora Sans"


def test_licences_changed_in_another_window_are_shown_as_a_conflict(client: Client, listing: Listing) -> None:
    opened = form_of(client, at("licences", listing)) | {"permit": "some", "slugs": ["personal"]}
    Listing.objects.filter(pk=listing.pk).update(allowed_license_slugs=["extended"])
    response = client.post(at("licences", listing), opened)
    assert "changed to “extended” in the meantime" in str(response.context["form"].errors["slugs"])


@pytest.mark.slow
def test_listing_in_review_is_shown_but_not_edited(client: Client, listing: Listing) -> None:
    opened = form_of(client, at("details", listing))
    submitted(listing)
    page = client.get(at("details", listing))
    assert page.context["form"].fields["title"].disabled
    response = client.post(at("details", listing), opened | {"title": "Late"})
    assert response.status_code == 400
    assert "nothing was saved" in response.content.decode()
    assert at("withdraw", listing) in response.content.decode()
    assert response.context["form"]["title"].value() == "Late"
    listing.refresh_from_db()
    assert listing.title == "Aurora Sans"


def test_texts_of_vendors_are_escaped_in_the_studio(client: Client, vendor: VendorProfile) -> None:
    hostile = "<script>alert(1)</script>"
    listing = ListingFactory(
        store=vendor.store, title=hostile, slug="hostile", short_description=hostile, description=hostile, tags=[hostile]
    )
    sections = ("listing", "details", "prices", "licences", "manifest", "reviews", "files")
    for address in (reverse("studio"), *(at(name, listing) for name in sections)):
        page = client.get(address).content.decode()
        assert escape(hostile) in page, address
        assert hostile not in page, address
