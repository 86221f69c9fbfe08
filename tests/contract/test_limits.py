"""The limits of section 8 of the specification."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from catalog import bounds as catalog_bounds
from catalog.models import Deliverable, LicenseTier, Listing
from library import bounds as library_bounds
from library.models import Licence
from marketplace.accounts.models import User
from marketplace.core.ids import new_id
from marketplace.core.scopes import Scope
from tests.factories import PublishedListingFactory, UserFactory
from tests.shop import on_sale
from vendors import bounds as vendors_bounds

from .calls import API, path_of, refused, rows
from .scenes import Scene, draft
from .shapes import Operation
from .table import BY_NAME

pytestmark = pytest.mark.django_db

GIB, MIB = 2**30, 2**20


class Empty:
    """A body of which nothing ever comes; it tells whether someone asked."""

    def __init__(self) -> None:
        self.asked = False

    def read(self, *_: object) -> bytes:
        """Return the end."""
        self.asked = True
        return b""

    readline = read


def knock(caller: APIClient, operation: Operation, scene: Scene, length: int) -> tuple[Any, bool]:
    """State an upload's length and send nothing; return the answer, and whether the body was read."""
    body, form = Empty(), "multipart/form-data; boundary=x"
    environ: dict[str, Any] = {"CONTENT_LENGTH": str(length), "CONTENT_TYPE": form, "wsgi.input": body}
    answer = caller.generic("POST", path_of(operation, scene) + ("?slot=0" if operation.query else ""), "", form, **environ)
    return answer, body.asked


@pytest.mark.slow
def test_browse_and_search_answer_twenty_and_at_most_fifty(anonymous: APIClient) -> None:
    first = PublishedListingFactory(title="Aurora 0")
    for number in range(1, 52):
        PublishedListingFactory(title=f"Aurora {number}", store=first.store, category=first.category)
    for path, items, query in (("assets", "items", {}), ("assets/search", "results", {"q": "aurora"})):
        sizes = [
            len(anonymous.get(f"{API}/{path}", query | limit).json()[items])
            for limit in ({}, {"limit": "50"}, {"limit": "51"}, {"limit": "1"})
        ]
        assert sizes == [20, 50, 50, 1], path
    assert anonymous.get(f"{API}/assets").json()["total"] == 52


def own(user: User, listing: Listing) -> Licence:
    """Return a licence that is not saved."""
    tier, file = LicenseTier.objects.get(slug="personal"), listing.approved_deliverable
    assert isinstance(file, Deliverable)
    return Licence(holder=user, listing=listing, tier=tier, terms=tier.terms.get(), order_id=new_id(), deliverable=file)


@pytest.mark.slow
def test_library_answers_twenty_five_and_at_most_a_hundred(key_client: Callable[..., APIClient]) -> None:
    user, first = UserFactory(), on_sale()
    listings: list[Listing] = [first, *(PublishedListingFactory(store=first.store, category=first.category) for _ in range(101))]
    Licence.objects.bulk_create([own(user, listing) for listing in listings])
    caller = key_client(user)
    answers = [caller.get(f"{API}/library", limit).json() for limit in ({}, {"limit": "100"}, {"limit": "101"})]
    assert [len(answer["items"]) for answer in answers] == [25, 100, 100]
    assert {answer["ownedCount"] for answer in answers} == {102}
    rest = caller.get(f"{API}/library", {"limit": "100", "cursor": answers[1]["nextCursor"]}).json()
    assert (len(rest["items"]), rest["nextCursor"]) == (2, None)


@pytest.mark.parametrize(
    ("name", "maximum"),
    [
        ("POST /vendor/assets/{id}/file", 5 * GIB),
        ("POST /vendor/assets/{id}/audio-preview", 20 * MIB),
        ("POST /vendor/assets/{id}/font-specimen", 20 * MIB),
        ("POST /vendor/assets/{id}/gallery-image", 20 * MIB),
    ],
)
def test_upload_that_is_too_large_by_its_length_is_not_read(name: str, maximum: int, bearer_client: Callable[..., APIClient]) -> None:
    operation, scene = BY_NAME[name], draft()
    caller = bearer_client(scene.user, scopes=frozenset({Scope.VENDOR_MANAGE}))
    before = rows()
    answer, read = knock(caller, operation, scene, maximum + vendors_bounds.MULTIPART_OVERHEAD_BYTES + 1)
    assert refused(answer, 413, "body_too_large", operation)["maximumBytes"] == maximum
    assert not read
    answer, read = knock(caller, operation, scene, maximum + vendors_bounds.MULTIPART_OVERHEAD_BYTES)
    refused(answer, 400, "upload_incomplete", operation)
    assert read
    assert rows() == before


def test_limits_are_those_of_the_specification(settings: Any) -> None:
    assert settings.RATE_LIMITS["api_key"] == 60
    assert (catalog_bounds.DELIVERABLE_BYTES, vendors_bounds.AUDIO_BYTES, catalog_bounds.GALLERY_SLOTS) == (5 * GIB, 20 * MIB, 5)
    assert library_bounds.DOWNLOAD_LINK_SECONDS == 15 * 60
