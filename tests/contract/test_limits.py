"""The limits of section 8 of the specification."""

import io
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
from tests.files.helpers import knock
from vendors import bounds as vendors_bounds

from .calls import path_of, refused, rows
from .scenes import draft
from .table import BY_NAME

pytestmark = pytest.mark.django_db

GIB, MIB = 2**30, 2**20


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
    path = path_of(operation, scene) + ("?slot=0" if operation.query else "")
    before, limit = rows(), maximum + vendors_bounds.MULTIPART_OVERHEAD_BYTES
    assert refused(knock(caller, path, CONTENT_LENGTH=str(limit + 1)), 413, "body_too_large", operation)["maximumBytes"] == maximum
    # At the limit it is read, and nothing comes.
    form = "multipart/form-data; boundary=x"
    environ: dict[str, Any] = {"CONTENT_LENGTH": str(limit), "CONTENT_TYPE": form, "wsgi.input": io.BytesIO()}
    refused(caller.generic("POST", path, "", form, **environ), 400, "upload_incomplete", operation)
    assert rows() == before


def test_limits_are_those_of_the_specification(settings: Any) -> None:
    assert settings.RATE_LIMITS["api_key"] == 60
    assert (catalog_bounds.DELIVERABLE_BYTES, vendors_bounds.AUDIO_BYTES, catalog_bounds.GALLERY_SLOTS) == (5 * GIB, 20 * MIB, 5)
    assert library_bounds.DOWNLOAD_LINK_SECONDS == 15 * 60
