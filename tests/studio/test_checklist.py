"""The checklist before a submission, in the words of the studio's pages."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from catalog.models import Deliverable, LicenseTier, Listing
from marketplace.storage.local import LocalStorage

from .cases import ready
from .forms import at, errors_of, form_of

pytestmark = pytest.mark.django_db


def words_of(client: Client, name: str, listing: Listing) -> str:
    page = BeautifulSoup(client.get(at(name, listing)).content, "html.parser")
    return " ".join(page.select_one("main").get_text(" ").split())  # type: ignore[union-attr]  # every page has one


def test_pages_do_not_read_a_stored_file_that_was_written_to_and_say_that_it_is_compared_later(
    client: Client, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(listing)
    Deliverable.objects.update(fingerprint="another")
    monkeypatch.setattr(LocalStorage, "read", None)
    for name in ("listing", "files"):
        assert client.get(at(name, listing)).status_code == 200
    assert "It is compared with your upload when you submit the listing" in words_of(client, "listing", listing)


@pytest.mark.slow
def test_retired_licence_that_is_permitted_stays_until_it_is_given_up(client: Client, listing: Listing) -> None:
    Listing.objects.filter(pk=listing.pk).update(allowed_license_slugs=["personal", "extended"])
    LicenseTier.objects.filter(slug="extended").update(is_active=False)
    words = words_of(client, "licences", listing)
    assert "Extended Retired No longer offered" in words
    assert "Extended: retired, so not included in “All licences, including future ones”." in words
    assert client.post(at("licences", listing), form_of(client, at("licences", listing)) | {"readme": "Hi"}).status_code == 302
    listing.refresh_from_db()
    assert (listing.allowed_license_slugs, listing.readme) == (["personal", "extended"], "Hi")
    client.post(at("licences", listing), form_of(client, at("licences", listing)) | {"slugs": ["personal"]})
    listing.refresh_from_db()
    assert listing.allowed_license_slugs == ["personal"]
    assert "Extended" not in words_of(client, "licences", listing)
    sent = form_of(client, at("licences", listing)) | {"slugs": ["personal", "extended"]}
    assert errors_of(client.post(at("licences", listing), sent)) == ["slugs"]


@pytest.mark.slow
def test_retired_licence_alone_is_kept_but_not_chosen(client: Client, listing: Listing) -> None:
    Listing.objects.filter(pk=listing.pk).update(allowed_license_slugs=["personal", "extended"])
    LicenseTier.objects.filter(slug="extended").update(is_active=False)
    sent = form_of(client, at("licences", listing)) | {"slugs": ["extended"]}
    assert "still offered" in str(client.post(at("licences", listing), sent).context["form"].errors["slugs"])
    Listing.objects.filter(pk=listing.pk).update(allowed_license_slugs=["extended"])
    assert client.post(at("licences", listing), form_of(client, at("licences", listing)) | {"readme": "Hi"}).status_code == 302
    listing.refresh_from_db()
    assert (listing.allowed_license_slugs, listing.readme) == (["extended"], "Hi")


@pytest.mark.slow
def test_retired_licence_is_not_offered_to_a_listing_that_permits_every_one(client: Client, listing: Listing) -> None:
    LicenseTier.objects.filter(slug="extended").update(is_active=False)
    words = words_of(client, "licences", listing)
    assert "Extended" not in words
    assert "not included in" not in words
    client.post(at("licences", listing), form_of(client, at("licences", listing)) | {"permit": "some"})
    listing.refresh_from_db()
    assert listing.allowed_license_slugs == ["personal", "commercial"]
