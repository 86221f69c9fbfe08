"""The buyer's view of a listing before it is on sale: for its vendor only, and neither cached nor indexed."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import Deliverable, Listing
from catalog.services.submission import unpublish_listing
from tests.catalog.cases import add_candidate, published
from tests.factories import ListingFactory, PreviewFactory
from tests.vendors.cases import make_vendor

from .markup import soup

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_vendor_sees_a_draft_as_buyers_will(browse: Callable[..., Client]) -> None:
    profile = make_vendor()
    listing = ListingFactory(store=profile.store, title="Paper Grain", description="Twelve papers.")
    PreviewFactory(listing=listing, slot=0, details={"width": 1200, "height": 800})
    response = browse(profile.user).get(reverse("studio-preview", args=[listing.slug]))
    page = soup(response)
    assert "no-store" in response["Cache-Control"]
    assert page.select_one("meta[name=robots][content=noindex]")
    assert page.select_one("link[rel=canonical]") is None
    assert "Paper Grain" in page.h1.get_text()  # type: ignore[union-attr]  # it has a heading
    assert "Twelve papers." in page.get_text()
    assert page.select_one(".buy button") is None
    picture = reverse("studio-preview-picture", args=[listing.slug, 1])
    assert [link["href"] for link in page.select("a[data-picture]")] == [picture]
    assert browse(profile.user).get(picture).status_code == 200


def test_draft_shows_the_type_of_the_file_that_waits_in_an_archive(browse: Callable[..., Client]) -> None:
    listing = published(store=make_vendor().store)
    unpublish_listing(listing=listing, actor=listing.store.owner)
    add_candidate(Listing.objects.get(pk=listing.pk))
    Deliverable.objects.filter(listing=listing, approved_at=None).update(technical={"contentsByExtension": {"lottie": 2}})
    page = browse(listing.store.owner).get(reverse("studio-preview", args=[listing.slug]))
    assert page.context["file_type"] == "lottie"


def test_draft_shows_the_version_that_an_unpublished_listing_keeps(browse: Callable[..., Client]) -> None:
    listing = published(version="1.0", store=make_vendor().store)
    unpublish_listing(listing=listing, actor=listing.store.owner)
    Listing.objects.filter(pk=listing.pk).update(version="2.0")
    shown = browse(listing.store.owner).get(reverse("studio-preview", args=[listing.slug]))
    assert shown.context["version"] == "1.0"
    # A new file gets the listing's, once it is approved.
    add_candidate(Listing.objects.get(pk=listing.pk))
    shown = browse(listing.store.owner).get(reverse("studio-preview", args=[listing.slug]))
    assert shown.context["version"] == "2.0"
