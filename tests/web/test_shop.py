"""The storefront: whatever is in the address, what is for sale is shown as the API has it, in few queries."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime

import pytest
from allauth.account.models import EmailAddress
from bs4 import BeautifulSoup
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from django_filters import DateFilter

from catalog.filters import ListingFilter
from catalog.models import Deliverable, ListingIndex, Preview, Store
from catalog.services.visibility import store_visibility_changed
from marketplace.web.shop.query import ShopForm
from marketplace.web.views import sitemaps
from tests.factories import ListingFactory
from tests.shop import bought, funded, on_sale

from .markup import soup
from .world import stock

pytestmark = pytest.mark.django_db


def page_at(client: Client, address: str) -> BeautifulSoup:
    """Return a page that must be well made."""
    return soup(client.get(address))


def titles(page: BeautifulSoup) -> list[str]:
    """Return the titles of the listings that a page is about."""
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
def test_only_lists_load_htmx_before_the_search_is_used(client: Client) -> None:
    loads = "script[src*=htmx]"
    assert page_at(client, "/browse").select_one(loads)
    page = page_at(client, f"/assets/{on_sale().slug}")
    assert not page.select_one(loads)
    assert page.select_one("#find[data-suggest*=htmx]")


@pytest.mark.slow
def test_contents_of_a_listing_and_how_often_it_was_bought_are_told(client: Client) -> None:
    listing = on_sale()
    technical = {"format": "zip", "entryCount": 3, "contentsByExtension": {"": 1, "otf": 2}}
    Deliverable.objects.filter(listing=listing).update(technical=technical)
    ListingIndex.objects.filter(pk=listing.pk).update(popularity=3)
    page = page_at(client, f"/assets/{listing.slug}")
    contains, bought = (page.select(f"dt:-soup-contains('{name}') + dd")[0] for name in ("Contains", "Bought"))
    assert bought.get_text(strip=True) == "3 times"
    # Those without an extension are named.
    assert all(re.fullmatch(r"\d \W \w[\w ]+", part.strip()) for part in contains.get_text().split(","))


@pytest.mark.slow
def test_browse_page_ignores_invalid_query_parameters(client: Client) -> None:
    on_sale()
    for query in (
        "page=0",
        "page=x",
        "page=99999999999999999999",
        "sort=worst",
        "currency=BTC",
        "minPrice=abc",
        "minPrice=9&maxPrice=1",
        "minPrice=-1",
        "minPrice=NaN",
        "tier=emperor",
        "category=%00",
        "q=%F0%9F%92%A9%00",
        "q=" + "x" * 300,
        "license=%27%20OR%201%3D1",
        "tag=" + "y" * 500,
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
    page = page_at(client, "/browse?category=!fonts&tag=bold&tag=sans&category=motion")
    assert titles(page) == ["Loop"]
    hidden = [(field["name"], field["value"]) for field in page.select("input[type=hidden]")]
    assert hidden == [("category", "motion"), ("category", "!fonts"), ("tag", "bold"), ("tag", "sans")]
    chips = {chip.get_text(" ", strip=True).split(" (remove)")[0][:-2]: chip["href"] for chip in page.select("ul.tags a.tag")}
    assert set(chips) >= {"not fonts", "bold", "sans"}
    assert titles(page_at(client, str(chips["not fonts"]))) == ["Loop"]
    assert "category=%21fonts" not in str(chips["not fonts"])


@pytest.fixture
def with_a_date_filter(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A catalog with one filter more: the first day of publication."""
    declared = DateFilter(field_name="published_at", lookup_expr="date__gte", label="Published since")
    monkeypatch.setitem(ListingFilter.base_filters, "publishedSince", declared)
    monkeypatch.setattr("marketplace.web.views.shop.ShopForm", type("Form", (ShopForm,), {"publishedSince": declared.field}))
    ListingFilter.form_class.cache_clear()
    yield
    ListingFilter.form_class.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("with_a_date_filter")
def test_filter_of_one_value_has_a_form_field_and_can_be_removed(client: Client) -> None:
    for title, day in (("Old", 1), ("New", 3)):
        on_sale(title=title, published_at=datetime(2026, 3, day, 12, tzinfo=UTC))
    page = page_at(client, "/browse?publishedSince=2026-03-02&maxPrice=9000")
    assert titles(page) == ["New"]
    [field] = page.select("input[name=publishedSince]")
    assert (field["value"], page.select_one(f"label[for={field['id']}]") is not None) == ("2026-03-02", True)
    chips = {chip.get_text(" ", strip=True).split(" (remove)")[0][:-2]: str(chip["href"]) for chip in page.select("ul.tags a.tag")}
    assert "maxPrice=9000" in chips["published since 2026-03-02"]
    assert set(titles(page_at(client, chips["published since 2026-03-02"]))) == {"Old", "New"}
    assert "publishedSince=2026-03-02" in chips["up to 9000"]


@pytest.mark.slow
def test_price_is_shown_in_the_chosen_currency_and_kept(client: Client) -> None:
    listing = on_sale(base_price_minor=1234, price_inr_minor=123_456, price_eur_minor=None)
    assert "$12.34" in page_at(client, "/browse").select(".asset-price")[0].get_text()
    assert "₹1,234.56" in page_at(client, f"/assets/{listing.slug}?currency=INR").get_text()
    assert "₹1,234.56" in page_at(client, "/browse").get_text()
    # The vendor set no price in euros: nothing is converted.
    assert "$12.34" in page_at(client, "/browse?currency=EUR").get_text()


@pytest.mark.slow
def test_price_is_shown_in_the_wallets_currency_after_the_sign_in(browse: Callable[..., Client]) -> None:
    on_sale(base_price_minor=1234, price_inr_minor=123_456)
    assert "₹1,234.56" in page_at(browse(), "/browse").get_text()


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
    picture = Preview.objects.create(listing=listing, kind="Gallery", slot=0, object_key="a", content_type="image/webp", size=1, sha256="a" * 64, details={"width": 1200, "height": 800})  # fmt: skip
    Preview.objects.create(listing=listing, kind="FontSpecimen", object_key="b", content_type="font/woff2", size=1, sha256="b" * 64, details=details)  # fmt: skip
    sound = Preview.objects.create(listing=listing, kind="AudioPreview", object_key="c", content_type="audio/wav", size=1, sha256="c" * 64)
    page = page_at(client, f"/assets/{listing.slug}")
    assert [image["src"] for image in page.select(".gallery img")] == [picture.url]
    assert all(image.get("width") and image.get("height") and image.get("alt") for image in page.select(".gallery img"))
    assert len(page.select("#axis-wght[min='100'][max='900']")) == 1
    assert [player["src"] for player in page.select("audio")] == [sound.url]
    assert len(page.select("input[name=license]")) == 3
    assert page.select("a[href='https://video.example/x'][rel~=nofollow]")
    assert page.select("link[rel=canonical]")[0]["href"] == f"http://testserver/assets/{listing.slug}"
    css = client.get(f"/assets/{listing.slug}/specimen.css")
    assert css["Content-Type"].startswith("text/css")
    # The public sample, never the file for sale.
    assert f"/api/v1/previews/{Preview.objects.get(kind='FontSpecimen').pk}" in css.content.decode()


@pytest.mark.slow
def test_picture_has_its_alt_text_or_one_made_of_the_title(client: Client) -> None:
    listing = on_sale(title="Halden", short_description="A grotesque.")
    size = {"width": 1200, "height": 800}
    for slot in range(3):
        Preview.objects.create(listing=listing, kind="Gallery", slot=slot, object_key=f"{slot}", content_type="image/webp", size=1, sha256="a" * 64, details=size)  # fmt: skip
    words = [image["alt"] for image in page_at(client, f"/assets/{listing.slug}").select(".gallery img")]
    assert words == ["Halden: A grotesque.", "Halden, picture 2", "Halden, picture 3"]
    Preview.objects.filter(slot__lt=2).update(alt_text='Letters "on" <b>a wall</b>')
    words = [image["alt"] for image in page_at(client, f"/assets/{listing.slug}").select(".gallery img")]
    assert words == ['Letters "on" <b>a wall</b>'] * 2 + ["Halden, picture 3"]


@pytest.mark.slow
def test_listing_page_says_that_the_user_owns_it_or_sells_it(browse: Callable[..., Client]) -> None:
    listing = on_sale()
    buyer = funded(inr=1_000_000)
    bought(listing, buyer)
    page, download = page_at(browse(buyer), f"/assets/{listing.slug}"), reverse("library-item", args=[listing.slug])
    assert "You own it" in page.get_text()
    assert len(page.select(f".buy a.button[href='{download}']")) == len(page.select(f".buy-bar a[href='{download}']")) == 1
    assert len(page.select("input[name=license][disabled]")) == 1
    own = page_at(browse(listing.store.owner), f"/assets/{listing.slug}")
    assert "your own listing" in own.get_text()
    assert not own.select("button:-soup-contains('buy')")


def test_store_shows_what_it_sells_and_nothing_else(client: Client) -> None:
    mine, other = on_sale(title="Mine"), on_sale(title="Other")
    page = page_at(client, f"/stores/{mine.store.slug}")
    assert titles(page) == ["Mine"]
    for nonsense in ("x", "0", "-1", "1001", "%C2%B2", "%00", "9" * 5_000):
        assert client.get(f"/stores/{other.store.slug}?page={nonsense}").status_code == 404, nonsense
    assert titles(page_at(client, f"/stores/{mine.store.slug}?page=2")) == []


def locations(client: Client, path: str) -> list[str]:
    """Return what a sitemap names."""
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
def test_every_page_has_one_search_of_the_catalog_in_its_head(browse: Callable[..., Client]) -> None:
    listing, client = on_sale(), browse()
    for address in ("/", "/browse", f"/assets/{listing.slug}", "/docs", "/problems", "/nothing", "/dashboard", "/terms"):
        page = BeautifulSoup(client.get(address).content, "html.parser")
        # The documentation has a search of its own.
        everywhere = page.select("[role=search]:not([aria-label=Documentation]) input[name=q]")
        assert len(page.select("header [role=search] input[name=q]")) == len(everywhere) == 1, address


@pytest.mark.slow
def test_sort_order_is_above_the_results_and_kept_by_a_search(client: Client) -> None:
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


@pytest.mark.slow
def test_statements_about_ai_are_chosen_in_the_panel_and_excluded_by_address(client: Client) -> None:
    on_sale(title="Silent")
    on_sale(title="Open", ai_training="allowed", ai_origin="none")
    page = page_at(client, "/browse?aiTraining=allowed&aiOrigin=%21undeclared")
    assert titles(page) == ["Open"]
    assert [tag["value"] for tag in page.select("#shop_aiTraining option[selected]")] == ["allowed"]
    # What no control can show is kept by the form.
    assert [tag["value"] for tag in page.select("input[type=hidden][name=aiOrigin]")] == ["!undeclared"]
    without = next(str(chip["href"]) for chip in page.select("ul.tags a.tag") if "aiTraining" not in str(chip["href"]))
    assert titles(page_at(client, without)) == ["Open"]
