"""Favourites: a signed-in user keeps listings for later, and nobody else sees them."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from catalog.services.submission import unpublish_listing
from library import bounds
from library.models import Favourite
from tests.factories import UserFactory
from tests.shop import on_sale

from .markup import read, soup

pytestmark = pytest.mark.django_db


def form_of(client: Client, slug: str) -> str:
    (form,) = soup(client.get(f"/assets/{slug}")).select("form[action*=favourite]")
    return str(form["action"])


@pytest.mark.slow
def test_listing_is_added_shown_and_removed_by_forms(browse: Callable[..., Client]) -> None:
    listing, client = on_sale(title="Halden Grotesk"), browse()
    for _ in range(2):
        assert client.post(reverse("favourite-add", args=[listing.slug]))["Location"] == reverse("asset-page", args=[listing.slug])
    assert Favourite.objects.count() == 1
    assert "Halden Grotesk" in read(client.get(reverse("favourites")))
    remove = form_of(client, listing.slug)
    assert client.post(remove, {"from": "favourites"})["Location"] == reverse("favourites")
    assert not Favourite.objects.exists()
    assert form_of(client, listing.slug) != remove


@pytest.mark.slow
def test_removal_on_the_page_of_a_listing_that_left_the_catalog_leads_to_the_favourites(browse: Callable[..., Client]) -> None:
    listing, client = on_sale(), browse()
    client.post(reverse("favourite-add", args=[listing.slug]))
    unpublish_listing(listing=listing, actor=listing.store.owner)
    assert client.post(reverse("favourite-remove", args=[listing.slug]))["Location"] == reverse("favourites")


@pytest.mark.slow
def test_last_page_of_favourites_that_is_empty_meanwhile_does_not_say_that_there_are_none(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    for _ in range(25):
        Favourite.objects.create(user=user, listing=on_sale())
    client = browse(user)
    older = client.get(reverse("favourites")).context["next"]
    Favourite.objects.earliest("added_at").delete()
    page = read(client.get(older))
    assert ("24 listings" in page, "no favourites yet" in page, "← Newest" in page) == (True, False, True)


def test_visitor_signs_in_first_and_comes_back_to_the_listing(client: Client) -> None:
    listing = on_sale()
    answer = client.post(form_of(client, listing.slug))
    assert answer["Location"].startswith(reverse("account_login"))
    assert not Favourite.objects.exists()


def test_favourites_of_others_are_not_shown_and_stay(browse: Callable[..., Client]) -> None:
    listing, other = on_sale(title="Halden Grotesk"), UserFactory()
    Favourite.objects.create(user=other, listing=listing)
    client = browse()
    assert "Halden Grotesk" not in client.get(reverse("favourites")).content.decode()
    assert client.post(reverse("favourite-remove", args=[listing.slug])).status_code == 404
    assert Favourite.objects.get().user == other


@pytest.mark.slow
def test_listing_that_left_the_catalog_stays_until_it_is_removed_for_good(browse: Callable[..., Client]) -> None:
    listing, client = on_sale(title="Halden Grotesk"), browse()
    client.post(reverse("favourite-add", args=[listing.slug]))
    unpublish_listing(listing=listing, actor=listing.store.owner)
    shown = client.get(reverse("favourites")).content.decode()
    assert "Halden Grotesk" in shown
    assert f'href="{reverse("asset-page", args=[listing.slug])}"' not in shown
    client.post(reverse("favourite-remove", args=[listing.slug]), {"from": "favourites"})
    assert client.post(reverse("favourite-add", args=[listing.slug])).status_code == 404
    assert not Favourite.objects.exists()


@pytest.mark.slow
def test_favourites_have_a_maximum(browse: Callable[..., Client], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_FAVOURITES", 1)
    client = browse()
    for _ in range(2):
        client.post(reverse("favourite-add", args=[on_sale().slug]))
    assert Favourite.objects.count() == 1
    assert "note-error" in client.get("/browse").content.decode()
