"""The sources of a manifest as JSON values: the same sources always give the same manifest."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson

from marketplace.core.money import WALLET_CURRENCIES

from ..labels import PLATFORM_SEPARATOR
from ..models import Deliverable, LicenseTier, Listing
from ..models.listings import ListingStatus
from ..pricing import current_price, permitted_tiers
from ..selectors.listings import version_of_file
from .quoting import plain

# Increase it when the generator's output changes for the same sources: all stored manifests become stale.
GENERATOR_VERSION = 2
# Limits of what is in a manifest.
MAX_FORMATS = 20
MAX_FAMILIES = 16
FAMILY_CHARS = 80
MAX_STYLES = 32
MAX_SCRIPTS = 32
MAX_AXES = 32
MAX_PLATFORMS = 20
PLATFORM_CHARS = 80
MAX_HEADINGS = 12
HEADING_CHARS = 80
SKILL_NAME_CHARS = 80
SKILL_DESCRIPTION_CHARS = 500
# OpenType axis tags: four letters, digits or spaces.
_AXIS_TAG = re.compile(r"[A-Za-z][A-Za-z0-9 ]{0,3}")


def described_file(listing: Listing) -> Deliverable | None:
    """Return the file that the manifest describes: that on sale while the listing is published, else the newest."""
    if listing.status == ListingStatus.PUBLISHED:
        return listing.approved_deliverable
    return listing.candidate_deliverable or listing.approved_deliverable


def sources_of(listing: Listing, tiers: Sequence[LicenseTier]) -> dict[str, Any]:
    """Return the sources of a listing's manifest."""
    file = described_file(listing)
    technical: Mapping[str, Any] = {} if file is None else file.technical
    return {
        "generator": GENERATOR_VERSION,
        "assetId": str(listing.pk),
        "slug": listing.slug,
        "title": listing.title,
        "shortDescription": listing.short_description,
        "category": listing.category.slug,
        "tags": list(listing.tags),
        "store": listing.store.name,
        "version": listing.version if file is None else version_of_file(file, listing),
        "platforms": platforms_of(listing.supported_platforms),
        "licenses": [tier.slug for tier in permitted_tiers(listing, tiers)],
        "currencies": [currency.value for currency in WALLET_CURRENCIES if current_price(listing, currency) is not None],
        "checksum": "" if file is None else file.sha256,
        "formats": _formats(technical),
        "glyphCount": technical.get("glyphCount", 0),
        "variableAxes": sorted(tag for tag in technical.get("variableAxes", []) if _AXIS_TAG.fullmatch(tag))[:MAX_AXES],
        "axes": _axes(technical),
        "families": _names(technical.get("familyNames", []), MAX_FAMILIES),
        "styles": _names((each.get("style", "") for each in (technical, *technical.get("members", []))), MAX_STYLES),
        "scripts": _names(technical.get("scripts", []), MAX_SCRIPTS),
        "skill": _skill(technical.get("skill")),
    }


def platforms_of(supported_platforms: str) -> list[str]:
    """Return the host tools that a vendor listed, each once."""
    names = (plain(name, PLATFORM_CHARS) for name in PLATFORM_SEPARATOR.split(supported_platforms))
    return list(dict.fromkeys(filter(None, names)))[:MAX_PLATFORMS]


def digest_of(sources: Mapping[str, Any]) -> str:
    """Return the hash of the sources, which tells whether a stored manifest is stale."""
    return hashlib.sha256(orjson.dumps(sources, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _formats(technical: Mapping[str, Any]) -> list[str]:
    """Return the extensions of the contents, most frequent first; the file's own format if the contents have none."""
    counts: Mapping[str, int] = technical.get("contentsByExtension", {})
    named = sorted((name for name in counts if name), key=lambda name: (-counts[name], name))
    if not named and "format" in technical:
        return [technical["format"]]
    return named[:MAX_FORMATS]


def _names(found: Iterable[str], most: int) -> list[str]:
    """Return distinct names from a file, sorted, short and plain."""
    return sorted({short for name in found if (short := plain(name, FAMILY_CHARS))})[:most]


def _axes(technical: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each variable axis once, with the widest range of all fonts."""
    merged: dict[str, dict[str, Any]] = {}
    for axis in (axis for font in (technical, *technical.get("members", [])) for axis in font.get("axes", [])):
        if _AXIS_TAG.fullmatch(axis["tag"]):
            known = merged.setdefault(axis["tag"], {name: axis[name] for name in ("tag", "min", "default", "max")})
            known["min"], known["max"] = min(known["min"], axis["min"]), max(known["max"], axis["max"])
    return [merged[tag] for tag in sorted(merged)[:MAX_AXES]]


def _skill(skill: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return name, description and headings of an AI skill, without the instructions that buyers pay for."""
    if skill is None:
        return None
    return {
        "name": plain(skill.get("name", ""), SKILL_NAME_CHARS),
        "description": plain(skill.get("description", ""), SKILL_DESCRIPTION_CHARS),
        "headings": headings_of(skill.get("text", "")),
    }


def headings_of(text: str) -> list[str]:
    """Return the first headings of a Markdown text, which are public also where buyers pay for the text."""
    return list(islice(_headings(text), MAX_HEADINGS))


def _headings(text: str) -> Iterator[str]:
    """Yield the headings of a Markdown text, outside of fenced code."""
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif line.startswith("#") and not fenced and (heading := plain(line.lstrip("#"), HEADING_CHARS)):
            yield heading
