"""A draft that was never submitted: its address can be changed, and it can be deleted."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from tests.factories import ListingFactory
from tests.web.markup import faults_of

from .cases import once_submitted, ready
from .forms import at, errors_of, form_of

pytestmark = pytest.mark.django_db


def hidden_tag(page: Any) -> Any:
    """Return the version that the confirmation sends back."""
    field = BeautifulSoup(page.content, "html.parser").select_one("main form input[name=etag]")
    assert field is not None
    return field["value"]


@pytest.mark.slow
def test_address_of_a_draft_is_changed_and_the_page_moves_there(client: Client, listing: Listing) -> None:
    response = client.post(at("details", listing), form_of(client, at("details", listing)) | {"slug": "aurora-serif"}, follow=True)
    listing.refresh_from_db()
    assert listing.slug == "aurora-serif"
    assert response.redirect_chain == [(at("details", listing), 302)]
    assert faults_of(response.content) == []


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["taken", "search"])
def test_invalid_or_taken_slug_is_refused_at_its_field(slug: str, client: Client, listing: Listing) -> None:
    ListingFactory(slug="taken")
    response = client.post(at("details", listing), form_of(client, at("details", listing)) | {"slug": slug, "title": "Other"})
    assert errors_of(response) == ["slug"]
    listing.refresh_from_db()
    assert (listing.slug, listing.title) == ("aurora-sans", "Aurora Sans")


@pytest.mark.slow
def test_address_is_not_offered_once_the_listing_was_submitted(client: Client, listing: Listing) -> None:
    before = form_of(client, at("details", listing))
    assert "slug" in before
    once_submitted(listing)
    assert "slug" not in form_of(client, at("details", listing))
    # A page from before still offers it.
    response = client.post(at("details", listing), before | {"slug": "aurora-serif"})
    assert response.context["form"].errors["slug"]
    listing.refresh_from_db()
    assert listing.slug == "aurora-sans"


@pytest.mark.slow
def test_draft_is_deleted_after_a_confirmation(client: Client, listing: Listing) -> None:
    ready(listing)
    assert at("delete", listing) in client.get(at("listing", listing)).content.decode()
    page = client.get(at("delete", listing))
    assert faults_of(page.content) == []
    assert Listing.objects.exists()
    response = client.post(at("delete", listing), {"etag": hidden_tag(page)}, follow=True)
    assert response.redirect_chain == [(reverse("studio"), 302)]
    assert not Listing.objects.exists()


@pytest.mark.slow
def test_draft_that_changed_since_the_confirmation_was_opened_is_kept(client: Client, listing: Listing) -> None:
    seen = hidden_tag(client.get(at("delete", listing)))
    ready(listing)
    for sent in ({"etag": seen}, {}):
        response = client.post(at("delete", listing), sent, follow=True)
        assert response.redirect_chain == [(at("listing", listing), 302)]
        assert Listing.objects.exists()


@pytest.mark.slow
def test_listing_that_was_submitted_is_not_deleted(client: Client, listing: Listing) -> None:
    once_submitted(listing)
    assert at("delete", listing) not in client.get(at("listing", listing)).content.decode()
    assert client.get(at("delete", listing)).status_code == 302
    refused = client.post(at("delete", listing), {"etag": Listing.objects.get().etag}, follow=True)
    assert "Not deleted." in refused.content.decode()
    assert Listing.objects.exists()
