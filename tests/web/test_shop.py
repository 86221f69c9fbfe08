"""The storefront: whatever is in the address, what is for sale is shown as the API has it, in few queries."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from urllib.parse import urlencode

import pytest
from allauth.account.models import EmailAddress
from bs4 import BeautifulSoup
from django.core.cache import caches
from django.test import Client
from django.urls import reverse

from catalog.models import Category, Listing, ListingIndex, Preview, Store
from catalog.services.submission import unpublish_listing
from catalog.services.visibility import store_visibility_changed
from marketplace.web.views import sitemaps
from tests.factories import ListingFactory, PreviewFactory, StoreFactory
from tests.shop import bought, funded, on_sale

from .markup import soup
from .world import stock

pytestmark = pytest.mark.django_db


def page_at(client: Client, address: str) -> BeautifulSoup:
    return soup(client.get(address))


def titles(page: BeautifulSoup) -> list[str]:
    return [heading.get_text(strip=True) for heading in page.select(".assets:not(.popular) h3")]


def test_drafts_and_listings_of_closed_stores_are_not_shown_in_the_shop(client: Client) -> None:
    draft = ListingFactory(title="Secret draft")
    closed = on_sale(title="Closed one")
    assert client.get(f"/assets/{closed.slug}/changes").status_code == 200
    Store.objects.filter(pk=closed.store_id).update(is_open=False)
    store_visibility_changed(Store.objects.get(pk=closed.store_id))
    assert titles(page_at(client, "/browse")) == []
    assert "No matching assets" in page_at(client, "/browse").get_text()
    for address in (
        f"/assets/{draft.slug}",
        f"/assets/{closed.slug}",
        f"/assets/{closed.slug}/changes",
        f"/stores/{closed.store.slug}",
        f"/assets/{closed.slug}/specimen.css",
    ):
        assert client.get(address).status_code == 404, address
    assert not {draft.slug, closed.slug} & set(re.split(r"[/<]", client.get("/sitemaps/1.xml").content.decode()))


@pytest.mark.slow
@pytest.mark.parametrize("query", ["q=zzqqxx", "minPrice=90000"])
def test_where_nothing_matches_popular_listings_are_shown(client: Client, query: str) -> None:
    seldom, often = on_sale(title="Seldom"), on_sale(title="Often")
    ListingIndex.objects.filter(pk=often.pk).update(popularity=5)
    page = page_at(client, f"/browse?{query}")
    assert "No matching assets" in page.get_text()
    assert titles(page) == []
    assert [heading.get_text(strip=True) for heading in page.select(".popular h3")] == [often.title, seldom.title]


@pytest.mark.slow
def test_browse_page_ignores_invalid_query_parameters(client: Client) -> None:
    on_sale()
    for query in (
        "page=0",
        "page=99999999999999999999",
        "sort=worst",
        "currency=BTC",
        "minPrice=abc",
        "minPrice=9&maxPrice=1",
        "minPrice=NaN",
        "category=%00",
        "q=%F0%9F%92%A9%00",
        "q=" + "x" * 300,
        "nonsense=1&page=2",
    ):
        page_at(client, f"/browse?{query}")


def test_search_terms_and_listing_texts_are_escaped(client: Client) -> None:
    listing = on_sale(
        title="<script>alert(1)</script>", description="<img src=x onerror=alert(1)>\n\n![x](http://evil.example/i.png)\n\n# Big"
    )
    for address in ("/browse?q=%3Cscript%3Ealert(1)%3C/script%3E", "/browse", f"/assets/{listing.slug}"):
        page = page_at(client, address)
        assert "alert(1)" in str(page)
        assert "alert(1)" not in "".join(str(tag) for tag in page.select("script, [onerror]"))
    assert not page_at(client, f"/assets/{listing.slug}").select("img[src*=evil]")


@pytest.mark.slow
def test_filters_orders_and_pages_are_those_of_the_api(client: Client) -> None:
    for number in range(30):
        on_sale(
            title=f"Font {number:02}",
            base_price_minor=1000 + number,
            price_inr_minor=10_000 + number,
            tags=["even"] if number % 2 == 0 else [],
        )
    first = titles(page_at(client, "/browse?sort=price_asc"))
    assert first == [f"Font {number:02}" for number in range(24)]
    assert titles(page_at(client, "/browse?sort=price_asc&page=2")) == [f"Font {number:02}" for number in range(24, 30)]
    assert titles(page_at(client, "/browse?sort=price_asc&page=3")) == []
    assert len(titles(page_at(client, "/browse?tag=even"))) == 15
    assert titles(page_at(client, "/browse?currency=USD&minPrice=10.28&sort=price_asc")) == ["Font 28", "Font 29"]
    assert titles(page_at(client, "/browse?category=presets")) == []
    assert titles(page_at(client, "/browse?q=fnot+07"))[0] == "Font 07"


def test_page_beyond_the_last_one_does_not_say_that_there_is_nothing(client: Client) -> None:
    store = on_sale(title="Only").store
    for address in ("/browse?page=2&currency=USD", f"/stores/{store.slug}?page=2"):
        page = page_at(client, address)
        assert not {"No matching assets", "Nothing on sale"} & {heading.get_text() for heading in page.select("h2")}
        (first,) = page.select(".empty a")
        assert titles(page_at(client, str(first["href"]))) == ["Only"]
    assert "Nothing on sale" in page_at(client, f"/stores/{StoreFactory().slug}").get_text()


def test_retired_category_in_which_something_is_on_sale_is_named_and_kept(client: Client) -> None:
    listing = on_sale(title="Kept")
    Category.objects.filter(pk=listing.category_id).update(is_active=False)
    page = page_at(client, f"/browse?category={listing.category.slug}")
    (chosen,) = page.select("input[name=category][checked]")
    assert (titles(page), chosen["value"]) == (["Kept"], listing.category.slug)
    assert {heading.get_text() for heading in page.select("h1")} == {listing.category.name}
    assert not page_at(client, "/browse").select(f"input[value={listing.category.slug}]")


def test_tag_and_file_type_that_begin_with_an_exclamation_mark_are_not_excluded(client: Client) -> None:
    listing = on_sale(title="Loud", tags=["!wow"], file_type="!x")
    on_sale(title="Quiet")
    (tag,) = page_at(client, f"/assets/{listing.slug}").select("a[href*='?tag=']")
    assert titles(page_at(client, str(tag["href"]))) == ["Loud"]
    (option,) = page_at(client, "/browse").select("#shop_fileType option[value*='!']")
    chosen = page_at(client, f"/browse?{urlencode({'fileType': option['value']})}")
    assert titles(chosen) == ["Loud"]
    assert [each["value"] for each in chosen.select("#shop_fileType option[selected]")] == [option["value"]]


@pytest.mark.slow
def test_order_of_prices_is_that_of_the_currency_in_which_they_are_shown(client: Client) -> None:
    for title, usd, inr in (("One", 300, 10_000), ("Two", 100, 30_000), ("Three", 200, None)):
        on_sale(title=title, base_price_minor=usd, price_inr_minor=inr, price_eur_minor=None)

    def shown(sort: str, currency: str = "") -> list[str]:
        return titles(page_at(client, f"/browse?sort={sort}{currency and f'&currency={currency}'}"))

    # Dollars where nothing was chosen. What has no price in rupees comes last; none in euros is shown in dollars.
    assert (shown("price_asc"), shown("price_desc")) == (["Two", "Three", "One"], ["One", "Three", "Two"])
    assert (shown("price_asc", "EUR"), shown("price_desc", "EUR")) == (["Two", "Three", "One"], ["One", "Three", "Two"])
    assert (shown("price_asc", "INR"), shown("price_desc", "INR")) == (["One", "Two", "Three"], ["Two", "One", "Three"])
    # The API's order is by rupees unless a currency is named.
    answers = [client.get(f"/api/v1/assets?sort=price_asc{currency}").json() for currency in ("", "&currency=USD")]
    assert [[item["title"] for item in answer["items"]] for answer in answers] == [["One", "Two", "Three"], ["Two", "Three", "One"]]


@pytest.mark.slow
def test_filters_that_no_control_shows_stay_and_can_be_taken_away(client: Client) -> None:
    for title, category in (("Face", "fonts"), ("Loop", "motion"), ("Deck", "templates")):
        on_sale(title=title, category__slug=category, tags=["bold"])
    page = page_at(client, "/browse?category=!fonts&tag=bold&tag=sans&category=motion&maxPrice=9000")
    assert titles(page) == ["Loop"]
    hidden = [(field["name"], field["value"]) for field in page.select("input[type=hidden]")]
    assert hidden == [("category", "motion"), ("category", "!fonts"), ("tag", "bold"), ("tag", "sans")]
    chips = {chip.get_text(" ", strip=True).split(" (remove)")[0][:-2]: chip["href"] for chip in page.select("ul.tags a.tag")}
    assert set(chips) >= {"not fonts", "bold", "sans"}
    assert "maxPrice" not in str(chips["up to 9000"])
    assert titles(page_at(client, str(chips["not fonts"]))) == ["Loop"]
    assert "category=%21fonts" not in str(chips["not fonts"])
    page = page_at(client, f"/browse?{urlencode([('tag', '!sans'), ('tag', chr(92) + '!wow'), ('fileType', '!otf')])}")
    assert {chip.get_text(" ", strip=True).split(" (remove)")[0][:-2] for chip in page.select("ul.tags a.tag")} >= {
        "not sans",
        "!wow",
        "not otf",
    }


@pytest.mark.slow
def test_price_is_shown_in_the_chosen_currency_and_kept(client: Client) -> None:
    listing = on_sale(base_price_minor=1234, price_inr_minor=123_456, price_eur_minor=None)
    assert "$12.34" in page_at(client, "/browse").select(".asset-price")[0].get_text()
    assert "₹1,234.56" in page_at(client, f"/assets/{listing.slug}?currency=INR").get_text()
    assert "₹1,234.56" in page_at(client, "/browse").get_text()
    # The vendor set no price in euros: nothing is converted.
    assert "$12.34" in page_at(client, "/browse?currency=EUR").get_text()


def test_htmx_request_gets_only_the_results_and_an_address_without_empty_parameters(client: Client) -> None:
    on_sale(title="Halden")
    response = client.get("/browse?q=&category=fonts&minPrice=&sort=popular&currency=USD&page=", headers={"hx-request": "true"})
    assert response["HX-Push-Url"] == "/browse?category=fonts&currency=USD"
    assert b"<html" not in response.content
    assert b'id="results"' in response.content
    assert "HX-Request" in response["Vary"]


def test_suggestions_name_listings_and_accept_any_query(client: Client) -> None:
    on_sale(title="Halden Grotesk")
    assert "Halden Grotesk" in client.get("/suggest?q=hal").content.decode()
    assert client.get("/suggest?q=").content.strip() == b""
    assert client.get("/suggest").status_code == 200
    assert client.get("/suggest?q=" + "%00" * 300).status_code == 200
    assert "Press Enter" in client.get("/suggest?q=zzzzqqq").content.decode()


@pytest.mark.slow
def test_listing_shows_its_samples_licences_and_terms(client: Client) -> None:
    listing = on_sale(title="Halden", description="Good **font**", tags=["sans"], video_url="https://video.example/x", discount_bp=2500)
    details = {"axes": [{"tag": "wght", "min": 100, "default": 400, "max": 900}], "familyNames": ["Halden"], "style": "Regular"}
    picture = PreviewFactory(listing=listing, details={"width": 1200, "height": 800})
    sample = PreviewFactory(listing=listing, kind="FontSpecimen", content_type="font/woff2", details=details)
    sound = PreviewFactory(listing=listing, kind="AudioPreview", content_type="audio/wav")
    page = page_at(client, f"/assets/{listing.slug}")
    assert [image["src"] for image in page.select(".gallery img")] == [picture.url]
    assert len(page.select("#axis-wght[min='100'][max='900']")) == 1
    assert [player["src"] for player in page.select("audio")] == [sound.url]
    assert len(page.select("input[name=license]")) == 3
    assert page.select("a[href='https://video.example/x'][rel~=nofollow]")
    assert page.select("link[rel=canonical]")[0]["href"] == f"http://testserver/assets/{listing.slug}"
    assert page.select_one("meta[name=robots]") is None
    css = client.get(f"/assets/{listing.slug}/specimen.css")
    assert css["Content-Type"].startswith("text/css")
    # The public sample, never the file for sale.
    assert sample.url in css.content.decode()


@pytest.mark.slow
def test_picture_has_its_alt_text_or_one_made_of_the_title(client: Client) -> None:
    listing = on_sale(title="Halden", short_description="A grotesque.")
    size = {"width": 1200, "height": 800}
    for slot in range(3):
        PreviewFactory(listing=listing, slot=slot, details=size)
    words = [image["alt"] for image in page_at(client, f"/assets/{listing.slug}").select(".gallery img")]
    assert words == ["Halden: A grotesque.", "Halden, picture 2", "Halden, picture 3"]
    Preview.objects.filter(slot__lt=2).update(alt_text='Letters "on" <b>a wall</b>')
    words = [image["alt"] for image in page_at(client, f"/assets/{listing.slug}").select(".gallery img")]
    assert words == ['Letters "on" <b>a wall</b>'] * 2 + ["Halden, picture 3"]


def test_store_shows_what_it_sells_and_nothing_else(client: Client) -> None:
    mine, other = on_sale(title="Mine"), on_sale(title="Other")
    page = page_at(client, f"/stores/{mine.store.slug}")
    assert titles(page) == ["Mine"]
    for nonsense in ("x", "0", "-1", "1001", "%C2%B2", "%00", "9" * 5_000):
        assert client.get(f"/stores/{other.store.slug}?page={nonsense}").status_code == 404, nonsense
    assert titles(page_at(client, f"/stores/{mine.store.slug}?page=2")) == []


@pytest.mark.slow
def test_changes_found_by_the_id_of_a_listing_name_the_address_with_its_slug_as_canonical(client: Client) -> None:
    listing = on_sale()
    (canonical,) = page_at(client, f"/assets/{listing.pk}/changes").select("link[rel=canonical]")
    assert str(canonical["href"]).endswith(f"/assets/{listing.slug}/changes")


@pytest.mark.slow
def test_owner_of_a_licence_that_is_no_longer_offered_is_told_that_it_is_owned(browse: Callable[..., Client]) -> None:
    order = bought(on_sale(), license_slug="extended")
    Listing.objects.update(allowed_license_slugs=["personal"])
    page = page_at(browse(order.buyer), f"/assets/{order.listing.slug}")
    assert [note.get_text(strip=True) for note in page.select(".note-success p")] == ["You own it."]


@pytest.mark.slow
def test_rights_to_an_owned_asset_that_left_the_catalog_lead_back_to_the_library(browse: Callable[..., Client]) -> None:
    order = bought(on_sale())
    unpublish_listing(listing=order.listing, actor=order.listing.store.owner)
    page = page_at(browse(order.buyer), f"/assets/{order.listing.slug}/rights")
    assert [link["href"] for link in page.select(".crumb a")] == [reverse("library-item", args=[order.listing.slug])]


def locations(client: Client, path: str) -> list[str]:
    return re.findall("<loc>([^<]+)</loc>", client.get(path).content.decode())


@pytest.mark.slow
def test_sitemap_of_a_changed_catalog_takes_the_place_of_the_last_one(client: Client) -> None:
    caches["responses"].clear()
    for _ in range(3):
        slug = on_sale().slug
        assert slug in client.get("/sitemaps/1.xml").content.decode()
    assert len(caches["responses"]._cache) == 1  # type: ignore[attr-defined]  # what the memory holds


@pytest.mark.slow
def test_sitemaps_and_robots_name_what_is_public(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "LISTINGS", 2)
    listings = [on_sale(title=f"Listing {number}") for number in range(3)]
    parts = locations(client, "/sitemap.xml")
    assert parts == [f"http://testserver/sitemaps/{number}.xml" for number in (0, 1, 2)]
    assert "http://testserver/docs/quick-start" in locations(client, "/sitemaps/0.xml")
    assert locations(client, "/sitemaps/1.xml") == [f"http://testserver/assets/{listing.slug}" for listing in listings[:2]]
    assert locations(client, "/sitemaps/2.xml") == [f"http://testserver/assets/{listings[2].slug}"]
    for beyond in ("3", "999999999999999999999", "-1", "x"):
        assert client.get(f"/sitemaps/{beyond}.xml").status_code == 404
    robots = client.get("/robots.txt").content.decode()
    assert "Sitemap: http://testserver/sitemap.xml" in robots
    assert "Disallow: /checkout/" in robots
    assert "Disallow: /dashboard" in robots


@pytest.mark.slow
def test_sitemaps_and_suggestions_send_few_queries_with_many_listings(
    client: Client, django_assert_max_num_queries: Callable[..., AbstractContextManager[object]]
) -> None:
    on_sale(title="Halden Grotesk")
    stock(60)
    # The vocabulary is read once after a change.
    client.get("/suggest?q=hald")
    for address in ("/suggest?q=hald", "/sitemap.xml", "/sitemaps/1.xml"):
        with django_assert_max_num_queries(8):
            response = client.get(address)
        assert response.status_code == 200, address


@pytest.mark.slow
def test_sort_order_is_kept_by_a_search(client: Client) -> None:
    on_sale(title="Halden Grotesk")
    assert page_at(client, "/browse?sort=newest").select("#results #shop_sort option[value=newest][selected]")
    searched = page_at(client, "/browse?sort=newest&q=halden")
    assert [tag["value"] for tag in searched.select("#results input[name=sort]")] == ["newest"]


@pytest.mark.slow
def test_sign_in_says_that_the_currency_of_prices_changes() -> None:
    on_sale()
    for shown, said in (("", 1), ("?currency=INR", 0)):
        buyer = funded(inr=100)
        visitor = Client()
        visitor.get(f"/browse{shown}")
        EmailAddress.objects.create(user=buyer, email=buyer.email, verified=True, primary=True)
        visitor.post(reverse("account_login"), {"login": buyer.email, "password": "correct horse battery"})
        notes = [note.get_text() for note in page_at(visitor, "/browse").select(".note")]
        assert len([note for note in notes if "INR" in note]) == said


@pytest.mark.slow
@pytest.mark.parametrize(("tier", "buttons", "notes"), [("free", 0, 1), ("pro", 1, 0)])
def test_buyer_without_the_required_tier_sees_a_note_instead_of_the_button(
    browse: Callable[..., Client], tier: str, buttons: int, notes: int
) -> None:
    listing = on_sale(tier_requirement="pro")
    page = page_at(browse(funded(tier=tier)), f"/assets/{listing.slug}")
    assert len(page.select("form[action$='/buy'] button[type=submit]")) == buttons
    assert len(page.select(f"form[action$='/buy'] .note a[href='{reverse('contact')}']")) == notes
