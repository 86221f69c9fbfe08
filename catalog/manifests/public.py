"""The public AI manifest, built from the generated one and the current listing."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from marketplace.api.response_models import Id, ResponseModel

from .. import bounds
from ..ai_use import training_sentence
from ..models import AgentManifest, Listing
from ..responses import AiOriginName, AiTrainingName, LicenseOffer
from ..selectors.listings import version_of_file
from .quoting import plain, quoted
from .sources import platforms_of

SCHEMA_VERSION = "1.0"
# One token for every four bytes of UTF-8, rounded up: close for English with common tokenizers, high for other scripts.
BYTES_PER_TOKEN = 4
TOKEN_METHOD = f"utf8-bytes/{BYTES_PER_TOKEN}"

# `After Effects 2023+`, `Figma`, `Premiere Pro v24.1`.
_NAME_AND_VERSION = re.compile(r"(?P<name>.+?)(?:\s+v?(?P<version>\d[\d.]*(?:\+|\.x)?))?")
_WHEN_TO_USE = {
    "fonts": ["Text needs a typeface with this character, in print, on screen or in video."],
    "motion": ["A video needs titles, transitions, loops or overlays that are already animated."],
    "templates": ["A document, deck, page or post should start from a finished layout."],
    "presets": ["Photos, film or sound should get this character without setting it by hand."],
    "ai-skills": ["An agent is asked for a task that this skill teaches, and does not know it yet."],
}


class TokenMetrics(ResponseModel):
    """The estimated number of tokens of the texts."""

    method: str = Field(description="How it was estimated: `utf8-bytes/4` is one token for each four bytes, rounded up.")
    description_tokens: int = Field(description="Estimated tokens of the description.")
    instruction_tokens: int = Field(description="Estimated tokens of the instructions.")
    total_tokens: int = Field(description="Sum of both.")


class PromptInstructions(ResponseModel):
    """Instructions for agents that suggest or use the asset."""

    summary: str
    when_to_use: list[str] = Field(description="Tasks that the asset is suitable for.")
    how_to_use: list[str] = Field(description="Steps for using the asset.")
    limits: list[str] = Field(description="What the asset is not suitable for.")


class Dependency(ResponseModel):
    """A program or package that the asset needs."""

    name: str = Field(description="Name of the program or package.")
    kind: str = Field(description="What kind of dependency it is.")
    version: str | None = Field(description="The version needed; null for any.")
    optional: bool = Field(description="Whether the asset can be used without it.")


class PublicManifest(ResponseModel):
    """The AI manifest of an asset."""

    asset_id: Id
    schema_version: str
    slug: str
    title: str
    category: str
    semantic_tags: list[str] = Field(description="Tags that describe the asset.")
    token_metrics: TokenMetrics
    prompt_instructions: PromptInstructions
    dependencies: list[Dependency] = Field(description="What the asset needs in order to be used.")
    technical: dict[str, Any]
    licenses: list[LicenseOffer]
    ai_training: AiTrainingName
    ai_origin: AiOriginName
    ai_parts: str
    checksum: str = Field(description="SHA-256 of the file, in hex digits.")
    version: str


def public_manifest(listing: Listing, agent_manifest: AgentManifest, *, licenses: Sequence[dict[str, Any]]) -> PublicManifest:
    """Return the public manifest of a listing on sale, with its licence tiers and their prices as the asset's detail shows them."""
    body: dict[str, Any] = agent_manifest.body
    file = listing.approved_deliverable
    instructions = _instructions(listing, body, licenses)
    description_tokens = estimated_tokens(f"{listing.title}\n{listing.short_description}\n{listing.description}")
    instruction_tokens = estimated_tokens(
        "\n".join([instructions["summary"], *instructions["whenToUse"], *instructions["howToUse"], *instructions["limits"]])
    )
    manifest = {
        "assetId": listing.id,
        "schemaVersion": SCHEMA_VERSION,
        "slug": listing.slug,
        "title": listing.title,
        "category": listing.category.slug,
        "semanticTags": body["tags"],
        "tokenMetrics": {
            "method": TOKEN_METHOD,
            "descriptionTokens": description_tokens,
            "instructionTokens": instruction_tokens,
            "totalTokens": description_tokens + instruction_tokens,
        },
        "promptInstructions": instructions,
        "dependencies": dependencies(listing.supported_platforms),
        "technical": body["technical"],
        "licenses": licenses,
        "aiTraining": listing.ai_training,
        "aiOrigin": listing.ai_origin,
        "aiParts": plain(listing.ai_parts, bounds.AI_PARTS_CHARS),
        "checksum": file.sha256 if file else "",
        "version": listing.version if file is None else version_of_file(file, listing),
    }
    return PublicManifest.model_validate(manifest)


def estimated_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def dependencies(supported_platforms: str) -> list[dict[str, Any]]:
    """Return the host tools that a vendor listed; each is optional if there are several."""
    parts = platforms_of(supported_platforms)
    found = []
    for part in parts:
        match = _NAME_AND_VERSION.fullmatch(part)
        name, version = match.group("name", "version") if match else (part, None)
        found.append({"name": name, "kind": "hostApplication", "version": version, "optional": len(parts) > 1})
    return found


def _instructions(listing: Listing, body: dict[str, Any], licenses: Sequence[dict[str, Any]]) -> dict[str, Any]:
    tags = body["tags"]
    when = [*_WHEN_TO_USE.get(listing.category.slug, [])]
    if tags:
        when.append(f"The request is about {', '.join(quoted(tag, bounds.TAG_CHARS) for tag in tags)}.")
    limits = [f"{offer['name']} licence: {offer['summary']}" for offer in licenses]
    limits.append(training_sentence(listing.ai_training))
    limits.append("A licence must be bought before the file can be downloaded or used.")
    return {
        "summary": plain(listing.short_description, bounds.SHORT_DESCRIPTION_CHARS),
        "whenToUse": when,
        "howToUse": body["agentGuidance"].split("\n\n"),
        "limits": limits,
    }
