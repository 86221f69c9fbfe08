"""The generated AI manifest."""

import hashlib
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from catalog.manifests import ensure_manifest
from catalog.manifests.generate import build
from catalog.manifests.sources import digest_of, sources_of
from catalog.models import AgentManifest, Deliverable, LicenseTier, Listing
from catalog.search import search
from catalog.selectors.taxonomy import active_tiers
from marketplace.core.audit import history_of
from tests.factories import CategoryFactory, ListingFactory
from tests.files import makers

from .cases import ASSETS, PATCH, publish

pytestmark = pytest.mark.django_db

KEYS = {"version", "assetId", "slug", "category", "tags", "agentGuidance", "technical", "toolSchemas"}
WEIGHT = {"tag": "wght", "min": 100, "default": 400, "max": 900}
SKILL = """---
name: kerning-advisor
description: Suggests kerning for a line of text.
---
# Setup

Secret steps that buyers pay for.

```sh
# not a section
```

## Usage
"""


def generate(client: APIClient, listing: Listing) -> dict[str, Any]:
    answer = client.post(f"{ASSETS}/{listing.id}/manifest/generate")
    assert answer.status_code == 200
    body: dict[str, Any] = answer.json()
    assert set(body) == KEYS
    assert set(body["technical"]) == {"formats", "glyphCount", "variableAxes"}
    return body


def attach(listing: Listing, technical: dict[str, Any]) -> Deliverable:
    deliverable = Deliverable.objects.create(
        listing=listing,
        object_key=f"deliverables/{listing.pk}-{Deliverable.objects.count()}",
        original_filename="a.zip",
        file_size=1,
        sha256=hashlib.sha256(repr(technical).encode()).hexdigest(),
        crc32=0,
        technical=technical,
    )
    listing.candidate_deliverable = deliverable
    listing.save()
    return deliverable


def tool(body: dict[str, Any], name: str) -> dict[str, Any]:
    schema: dict[str, Any] = next(each for each in body["toolSchemas"] if each["name"] == name)["inputSchema"]
    return schema


def test_listing_without_a_file_has_a_manifest_all_the_same(client: APIClient, listing: Listing) -> None:
    body = generate(client, listing)
    assert (body["assetId"], body["slug"], body["category"], body["tags"]) == (str(listing.id), "aurora-sans", "fonts", ["font"])
    assert body["version"] == "1.0"
    assert body["technical"] == {"formats": [], "glyphCount": 0, "variableAxes": []}
    assert "No file has been uploaded yet." in body["agentGuidance"]


@pytest.mark.slow
def test_uploaded_font_is_described(client: APIClient, listing: Listing) -> None:
    client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.archive(Aurora_ttf=makers.font(), License_txt="x")))
    client.patch(f"{ASSETS}/{listing.id}", PATCH | {"tags": ["sans"], "supportedPlatforms": "Figma, InDesign"}, format="json")
    body = generate(client, listing)
    assert body["technical"] == {"formats": ["ttf", "txt"], "glyphCount": 3, "variableAxes": []}
    assert body["tags"] == ["sans", "font", "sans serif", "Tiny Sans", "latin", "truetype", "figma", "indesign", "ttf"]
    assert "most glyphs has 3." in body["agentGuidance"]
    assert "“Figma”, “InDesign”" in body["agentGuidance"]
    assert tool(body, "typeset_text")["properties"]["family"]["enum"] == ["Tiny Sans"]
    assert {each["name"] for each in body["toolSchemas"]} == {"buy_asset", "get_download_link", "typeset_text"}


@pytest.mark.parametrize(
    "technical",
    [
        {"format": "ttf", "contentsByExtension": {"ttf": 1}, "glyphCount": 9, "variableAxes": ["wght"], "axes": [WEIGHT]},
        {
            "format": "zip",
            "contentsByExtension": {"ttf": 2, "": 1},
            "glyphCount": 9,
            "variableAxes": ["wght"],
            "members": [{"axes": [WEIGHT | {"max": 700}]}, {"axes": [WEIGHT | {"min": 300}, WEIGHT]}, {}],
        },
    ],
)
def test_variable_axes_become_bounded_arguments(technical: dict[str, Any], client: APIClient, listing: Listing) -> None:
    attach(listing, technical)
    body = generate(client, listing)
    assert body["technical"] == {"formats": ["ttf"], "glyphCount": 9, "variableAxes": ["wght"]}
    axes = tool(body, "typeset_text")["properties"]["axes"]["properties"]
    assert axes == {"wght": {"type": "number", "minimum": 100, "maximum": 900, "default": 400}}
    assert "wght from 100 to 900" in body["agentGuidance"]


@pytest.mark.slow
def test_manifest_of_a_skill_does_not_contain_its_instructions(client: APIClient, listing: Listing, anonymous: APIClient) -> None:
    listing.category = CategoryFactory(slug="ai-skills", name="AI skills")
    listing.save()
    client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.archive(SKILL_md=SKILL)))
    body = generate(client, listing)
    assert "kerning-advisor" in body["agentGuidance"]
    assert "Sections: “Setup”, “Usage”." in body["agentGuidance"]
    assert "Secret steps" not in str(body)
    follow = next(each for each in body["toolSchemas"] if each["name"] == "follow_skill")
    assert "Its vendor says: “Suggests kerning for a line of text.”" in follow["description"]
    found = Deliverable.objects.get().technical
    publish(Listing.objects.get())
    Deliverable.objects.update(technical=found)
    detail = anonymous.get(f"/api/v1/assets/{listing.slug}")
    assert detail.json()["file"]["technical"]["skill"]["name"] == "kerning-advisor"
    assert b"Secret steps" not in detail.content


def test_tool_schemas_judge_arguments(client: APIClient, listing: Listing) -> None:
    attach(listing, {"format": "ttf", "contentsByExtension": {"ttf": 1}, "glyphCount": 9, "axes": [WEIGHT]})
    schema = Draft202012Validator(tool(generate(client, listing), "typeset_text"))
    assert schema.is_valid({"text": "Hello", "fontSize": 12, "axes": {"wght": 450}})
    for wrong in ({}, {"text": ""}, {"text": "x", "axes": {"wght": 950}}, {"text": "x", "axes": {"wdth": 100}}, {"text": "x", "size": 1}):
        assert not schema.is_valid(wrong)


def test_buy_tool_of_the_manifest_lists_available_currencies_and_licences(client: APIClient, listing: Listing) -> None:
    assert tool(generate(client, listing), "buy_asset")["properties"]["currency"] == {"enum": ["USD"]}
    Listing.objects.update(price_inr_minor=100, allowed_license_slugs=["extended"])
    buy = tool(generate(client, listing), "buy_asset")["properties"]
    assert (buy["currency"]["enum"], buy["licenseSlug"]["enum"]) == (["INR", "USD"], ["extended"])
    LicenseTier.objects.update(is_active=False)
    assert [each["name"] for each in generate(client, listing)["toolSchemas"]] == ["get_download_link"]


def test_same_sources_give_the_same_manifest_and_write_once_and_others_another(client: APIClient, listing: Listing) -> None:
    assert generate(client, listing) == generate(client, listing)
    assert history_of(listing).count() == 1
    listing.refresh_from_db()
    sources = sources_of(listing, active_tiers())
    manifest = AgentManifest.objects.get()
    assert (manifest.body, manifest.source_digest) == (build(sources), digest_of(sources))
    # An edit makes it stale until it is generated.
    client.patch(f"{ASSETS}/{listing.id}", PATCH | {"tags": ["new"]}, format="json")
    assert AgentManifest.objects.get().body["tags"] == ["font"]
    assert generate(client, listing)["tags"] == ["new", "font"]
    assert AgentManifest.objects.get().body["tags"] == ["new", "font"]
    newer = ListingFactory(store=listing.store)
    assert generate(client, newer) == generate(client, newer)
    assert history_of(newer).count() == 1


@pytest.mark.slow
def test_published_listing_is_found_by_the_tags_of_its_newest_manifest(client: APIClient, listing: Listing) -> None:
    publish(listing)
    generate(client, listing)
    file = Listing.objects.get(pk=listing.pk).approved_deliverable
    assert file is not None
    Deliverable.objects.filter(pk=file.pk).update(technical={"format": "zip", "contentsByExtension": {"cube": 4}})
    assert not search("grading", limit=10).hits
    assert "color grading" in generate(client, listing)["tags"]
    assert [hit.id for hit in search("grading", limit=10).hits] == [listing.pk]


def test_manifest_of_a_published_listing_contains_nothing_of_an_unreviewed_file(client: APIClient, listing: Listing) -> None:
    publish(listing)
    attach(listing, {"format": "ttf", "contentsByExtension": {"ttf": 1}, "glyphCount": 9})
    assert generate(client, listing)["technical"]["glyphCount"] == 0
    Listing.objects.update(status="Draft")
    assert generate(client, listing)["technical"]["glyphCount"] == 9
    listing.refresh_from_db()
    assert ensure_manifest(listing).body["technical"]["glyphCount"] == 9
