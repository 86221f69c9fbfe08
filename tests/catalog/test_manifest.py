"""GET /api/v1/assets/{id}/manifest."""

from typing import Any

import pytest
from django.core.cache import caches
from rest_framework.test import APIClient

from catalog.manifests.public import dependencies, estimated_tokens
from catalog.models import AgentManifest
from tests.factories import PublishedListingFactory

pytestmark = pytest.mark.django_db


def manifest_of(client: APIClient, asset_id: Any) -> Any:
    return client.get(f"/api/v1/assets/{asset_id}/manifest")


@pytest.mark.slow
def test_manifest_says_what_the_vendor_and_the_file_say(key_client: Any) -> None:
    listing = PublishedListingFactory(
        tags=["sans", "variable"], supported_platforms="After Effects 2023+, Figma", version="2.0", description="Ünïcode"
    )
    answer = manifest_of(key_client(), listing.slug)
    body = answer.json()
    assert answer["Cache-Control"] == "private, no-cache"
    assert (body["assetId"], body["schemaVersion"], body["category"]) == (str(listing.id), "1.0", "fonts")
    assert (body["semanticTags"], body["checksum"], body["version"]) == (
        ["sans", "variable", "font", "opentype", "after effects", "figma", "otf"],
        "ab" * 32,
        "2.0",
    )
    metrics = body["tokenMetrics"]
    assert metrics["method"] == "utf8-bytes/4"
    assert metrics["descriptionTokens"] == estimated_tokens(f"{listing.title}\nOne sentence.\nÜnïcode")
    assert metrics["totalTokens"] == metrics["descriptionTokens"] + metrics["instructionTokens"]
    instructions = body["promptInstructions"]
    assert all(instructions.values())
    assert body["dependencies"] == [
        {"name": "After Effects", "kind": "hostApplication", "version": "2023+", "optional": True},
        {"name": "Figma", "kind": "hostApplication", "version": None, "optional": True},
    ]


@pytest.mark.slow
def test_reading_a_manifest_writes_nothing(key_client: Any, new_version: Any) -> None:
    listing = PublishedListingFactory()
    client = key_client()
    first = manifest_of(client, listing.id)
    made = AgentManifest.objects.get(listing=listing).generated_at
    new_version()
    caches["responses"].clear()
    assert manifest_of(client, listing.id).content == first.content
    assert client.get(f"/api/v1/assets/{listing.id}/manifest", HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 304
    assert AgentManifest.objects.get(listing=listing).generated_at == made
    assert not new_version()


def test_host_tools_are_read_from_the_vendors_list() -> None:
    for text, expected in (
        (" , ;", []),
        ("Figma, Figma", [("Figma", None, False)]),
        ("Premiere Pro v24.1", [("Premiere Pro", "24.1", False)]),
        ("3ds Max 2024 / Cinema 4D", [("3ds Max", "2024", True), ("Cinema 4D", None, True)]),
    ):
        assert [(item["name"], item["version"], item["optional"]) for item in dependencies(text)] == expected
