"""GET /api/v1/assets/{id}/manifest."""

import uuid
from typing import Any

import pytest
from django.core.cache import caches
from rest_framework.test import APIClient

from catalog.manifests import ensure_manifest
from catalog.manifests.public import dependencies, tokens
from catalog.models import AgentManifest
from tests.factories import ListingFactory, PublishedListingFactory

pytestmark = pytest.mark.django_db


def manifest_of(client: APIClient, asset_id: Any) -> Any:
    return client.get(f"/api/v1/assets/{asset_id}/manifest")


def test_key_and_token_together_are_ambiguous(key_client: Any) -> None:
    client = key_client()
    response = client.get(f"/api/v1/assets/{PublishedListingFactory().id}/manifest", HTTP_AUTHORIZATION="Bearer x")
    assert (response.status_code, response.json()["code"]) == (400, "ambiguous_credentials")


def test_manifest_of_unknown_unpublished_and_hidden_listings_is_not_found(key_client: Any) -> None:
    client = key_client()
    for asset_id in (uuid.uuid4(), "nothing", ListingFactory().id, PublishedListingFactory(store__is_open=False).id):
        response = manifest_of(client, asset_id)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.slow
def test_manifest_has_exactly_the_documented_fields(key_client: Any) -> None:
    listing = PublishedListingFactory(
        tags=["sans", "variable"], supported_platforms="After Effects 2023+, Figma", version="2.0", description="Ünïcode"
    )
    answer = manifest_of(key_client(), listing.slug)
    body = answer.json()
    assert answer["Cache-Control"] == "private, no-cache"
    assert set(body) == {
        "assetId",
        "schemaVersion",
        "slug",
        "title",
        "category",
        "semanticTags",
        "tokenMetrics",
        "promptInstructions",
        "aiTraining",
        "aiOrigin",
        "aiParts",
        "dependencies",
        "technical",
        "licenses",
        "checksum",
        "version",
    }
    assert (body["assetId"], body["schemaVersion"], body["category"]) == (str(listing.id), "1.0", "fonts")
    assert (body["semanticTags"], body["checksum"], body["version"]) == (
        ["sans", "variable", "font", "opentype", "after effects", "figma", "otf"],
        "ab" * 32,
        "2.0",
    )
    metrics = body["tokenMetrics"]
    assert metrics["method"] == "utf8-bytes/4"
    assert metrics["descriptionTokens"] == tokens(f"{listing.title}\nOne sentence.\nÜnïcode")
    assert metrics["totalTokens"] == metrics["descriptionTokens"] + metrics["instructionTokens"]
    instructions = body["promptInstructions"]
    assert set(instructions) == {"summary", "whenToUse", "howToUse", "limits"}
    assert all(instructions[name] for name in instructions)
    assert body["dependencies"] == [
        {"name": "After Effects", "kind": "hostApplication", "version": "2023+", "optional": True},
        {"name": "Figma", "kind": "hostApplication", "version": None, "optional": True},
    ]


@pytest.mark.slow
def test_manifest_is_made_where_there_is_none_and_is_stale_after_an_edit_until_it_is_made_again(key_client: Any) -> None:
    listing = PublishedListingFactory(tags=["old"])
    client = key_client()
    assert manifest_of(client, listing.id).json()["semanticTags"][0] == "old"
    assert AgentManifest.objects.filter(listing=listing).exists()
    listing.tags = ["new"]
    listing.save()
    assert manifest_of(client, listing.id).json()["semanticTags"][0] == "old"
    ensure_manifest(listing)
    assert manifest_of(client, listing.id).json()["semanticTags"][0] == "new"


@pytest.mark.slow
def test_reading_a_manifest_writes_nothing(key_client: Any, new_version: Any) -> None:
    listing = PublishedListingFactory()
    client = key_client()
    manifest_of(client, listing.id)
    made = AgentManifest.objects.get(listing=listing).generated_at
    new_version()
    caches["responses"].clear()
    assert manifest_of(client, listing.id).status_code == 200
    assert AgentManifest.objects.get(listing=listing).generated_at == made
    assert not new_version()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" , ;", []),
        ("Figma", [("Figma", None, False)]),
        ("Figma, Figma", [("Figma", None, False)]),
        ("Premiere Pro v24.1", [("Premiere Pro", "24.1", False)]),
        ("3ds Max 2024 / Cinema 4D", [("3ds Max", "2024", True), ("Cinema 4D", None, True)]),
    ],
)
def test_host_tools_are_read_from_the_vendors_list(text: str, expected: Any) -> None:
    assert [(item["name"], item["version"], item["optional"]) for item in dependencies(text)] == expected
