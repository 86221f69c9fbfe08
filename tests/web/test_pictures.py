"""The pictures of a listing, each on a page of its own."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from tests.factories import PreviewFactory
from tests.shop import on_sale

from .markup import soup

pytestmark = pytest.mark.django_db


def with_pictures(listing: Listing) -> list[str]:
    size = {"width": 1200, "height": 800}
    return [PreviewFactory(listing=listing, slot=slot, details=size, alt_text=f"In slot {slot}").url for slot in (0, 1, 3)]


@pytest.mark.slow
def test_every_picture_of_a_listing_links_to_its_page_and_not_to_the_file(client: Client) -> None:
    listing = on_sale()
    addresses = with_pictures(listing)
    page = BeautifulSoup(client.get(reverse("asset-page", args=[listing.slug])).content, "html.parser")
    links = page.select("a[data-picture]")
    assert [link["data-picture"] for link in links] == addresses
    assert page.select("a[href^='/api/v1/previews']") == []
    for link, address in zip(links, addresses, strict=True):
        [shown] = soup(client.get(str(link["href"]))).select("main img")
        assert (shown["src"], shown["alt"]) == (address, link.img["alt"] if link.img else None)


@pytest.mark.slow
def test_picture_page_links_to_the_previous_and_next_picture(client: Client) -> None:
    listing = on_sale()
    with_pictures(listing)
    ways = []
    for shown in (1, 2, 3):
        page = BeautifulSoup(client.get(reverse("asset-picture", args=[listing.slug, shown])).content, "html.parser")
        ways.append({link["rel"][0]: str(link["href"]).rsplit("/", 1)[-1] for link in page.select("a[rel=prev], a[rel=next]")})
    assert ways == [{"next": "2"}, {"prev": "1", "next": "3"}, {"prev": "2"}]
    for number in ("0", "4", "9" * 5000):
        assert client.get(f"/assets/{listing.slug}/pictures/{number}").status_code == 404
