"""The limits of section 8 of the specification."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.serializers import Serializer
from rest_framework.test import APIClient

from catalog import bounds as catalog_bounds
from catalog.browsing import BrowseQuery, CatalogSearchQuery
from library import bounds as library_bounds
from library.api.serializers.library import LibraryQuery
from marketplace.core.scopes import Scope
from vendors import bounds as vendors_bounds

from .calls import path_of, refused, rows
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


@pytest.mark.parametrize(
    ("query", "default", "maximum"),
    [(BrowseQuery, 20, 50), (CatalogSearchQuery, 20, 50), (LibraryQuery, 25, 100)],
)
def test_lists_answer_as_many_by_default_and_at_most(query: type[Serializer[Any]], default: int, maximum: int) -> None:
    for limit, answered in ({}, default), ({"limit": f"{maximum}"}, maximum), ({"limit": f"{maximum + 1}"}, maximum), ({"limit": "1"}, 1):
        asked = query(data={"q": "aurora", **limit})
        asked.is_valid(raise_exception=True)
        assert asked.validated_data["limit"] == answered


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
