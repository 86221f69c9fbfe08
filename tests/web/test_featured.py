"""The start page's featured listings, chosen in the admin, and the listings related to one."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import Permission
from django.db import transaction
from django.test import Client
from django.urls import reverse

from catalog.models import FeaturedListing, Listing
from catalog.selectors.cards import related_cards
from catalog.selectors.listings import listing_on_sale
from catalog.services.submission import unpublish_listing
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from tests.admin.pages import staff
from tests.factories import ListingFactory
from tests.races import at_once, until_someone_waits
from tests.shop import on_sale
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db

Queries = Callable[[int], AbstractContextManager[object]]
ADD = "admin:catalog_featuredlisting_add"


@pytest.fixture
def editor() -> User:
    return staff(*(f"catalog.{verb}_featuredlisting" for verb in ("view", "add", "change", "delete")))


def shown(client: Client) -> list[str]:
    page = BeautifulSoup(client.get("/").content, "html.parser")
    return [heading.get_text(strip=True) for heading in page.select(".assets h3")]


@pytest.mark.slow
def test_start_page_shows_featured_listings_first_in_their_order(browse: Callable[..., Client], client: Client, editor: User) -> None:
    listings = [on_sale(title=f"Number {number}") for number in range(4)]
    staff = browse(editor)
    for position, listing in ((2, listings[0]), (1, listings[3])):
        assert staff.post(reverse(ADD), {"listing": listing.slug, "position": position}).status_code == 302
    assert shown(client)[:2] == ["Number 3", "Number 0"]
    # Those that are featured do not stand among the popular ones, too.
    assert sorted(shown(client)) == [listing.title for listing in listings]
    assert AuditEntry.objects.filter(action="featuredlisting.create", actor=editor).count() == 2


@pytest.mark.slow
def test_featured_listing_that_is_not_on_sale_is_left_out(browse: Callable[..., Client], client: Client, editor: User) -> None:
    listing, other = on_sale(title="Taken away"), on_sale(title="Stays")
    browse(editor).post(reverse(ADD), {"listing": listing.slug, "position": 1})
    unpublish_listing(listing=listing, actor=listing.store.owner)
    assert shown(client) == [other.title]


def test_draft_cannot_be_featured(browse: Callable[..., Client], editor: User) -> None:
    answer = browse(editor).post(reverse(ADD), {"listing": ListingFactory().slug, "position": 1})
    assert "listing" in answer.context["adminform"].form.errors
    assert not FeaturedListing.objects.exists()


def test_staff_move_and_remove_a_featured_listing(browse: Callable[..., Client], editor: User) -> None:
    row, staff = FeaturedListing.objects.create(listing=on_sale(), position=1), browse(editor)
    assert staff.post(reverse("admin:catalog_featuredlisting_change", args=[row.pk]), {"position": 7}).status_code == 302
    row.refresh_from_db()
    assert row.position == 7
    assert staff.post(reverse("admin:catalog_featuredlisting_delete", args=[row.pk]), {"post": "yes"}).status_code == 302
    chosen = FeaturedListing.objects.create(listing=on_sale())
    answers = {"action": "delete_selected", "_selected_action": [str(chosen.pk)], "post": "yes"}
    staff.post(reverse("admin:catalog_featuredlisting_changelist"), answers)
    assert not FeaturedListing.objects.exists()
    assert AuditEntry.objects.filter(action="featuredlisting.delete", actor=editor).count() == 2
    assert Listing.objects.filter(status="Published").count() == 2


@pytest.mark.parametrize("lacking", ["add", "change", "delete"])
def test_staff_who_lack_a_permission_are_refused(browse: Callable[..., Client], editor: User, lacking: str) -> None:
    listing, row = on_sale(), FeaturedListing.objects.create(listing=on_sale(), position=3)
    editor.user_permissions.remove(Permission.objects.get(codename=f"{lacking}_featuredlisting"))
    staff = browse(editor)
    calls = {
        "add": (reverse(ADD), {"listing": listing.slug, "position": 1}),
        "change": (reverse("admin:catalog_featuredlisting_change", args=[row.pk]), {"position": 9}),
        "delete": (reverse("admin:catalog_featuredlisting_delete", args=[row.pk]), {"post": "yes"}),
    }
    assert staff.post(*calls[lacking]).status_code == 403
    selected = {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"}
    if lacking == "delete":
        staff.post(reverse("admin:catalog_featuredlisting_changelist"), selected)
    assert list(FeaturedListing.objects.values_list("listing", "position")) == [(row.listing_id, 3)]


@pytest.mark.database
def test_related_listings_have_common_tags_first_and_one_category(django_assert_max_num_queries: Queries) -> None:
    listing = on_sale(title="Itself", tags=["Sans", "rounded"])
    on_sale(title="Both", tags=["sans", "ROUNDED"])
    on_sale(title="One", tags=["sans"], purchases=1)
    on_sale(title="None", tags=["serif"])
    on_sale(title="Elsewhere", tags=["sans", "rounded"], category__slug="motion")
    found = listing_on_sale(listing.slug)
    with django_assert_max_num_queries(1):
        assert [card["title"] for card in related_cards(found, limit=3)] == ["Both", "One", "None"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_listing_taken_off_the_list_while_someone_else_moves_it_stays_off(browse: Callable[..., Client], editor: User) -> None:
    row, client = FeaturedListing.objects.create(listing=on_sale(), position=1), browse(editor)
    move = partial(client.post, reverse("admin:catalog_featuredlisting_change", args=[row.pk]), {"position": 7})
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            FeaturedListing.objects.filter(pk=row.pk).delete()
            waiting = pool.submit(at_once, move)
            until_someone_waits()
        assert [response.url for response in waiting.result(PATIENCE_SECONDS)] == [reverse("admin:index")]
    assert not FeaturedListing.objects.exists()
