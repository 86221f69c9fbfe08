"""Prepares files, findings, prices and the history of a listing for the studio's pages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.humanize.templatetags.humanize import intcomma

from catalog.field_labels import field_label
from catalog.models import LicenseTier, Listing
from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.pricing import current_price, is_free, list_prices, permitted_tiers, price_of
from catalog.selectors.taxonomy import active_tiers
from marketplace.core.audit import history_of
from marketplace.core.models import AuditEntry
from marketplace.core.money import WALLET_CURRENCIES, Currency, Split, included_tax, split_sale

from ..services.submission_checks import run_checks

FORMAT_NAMES = {
    "zip": "zip archive",
    "tar": "tar archive",
    "tar.gz": "tar archive, gzip",
    "tar.bz2": "tar archive, bzip2",
    "tar.xz": "tar archive, xz",
    "otf": "OpenType font",
    "ttf": "TrueType font",
    "ttc": "font collection",
    "woff": "WOFF font",
    "woff2": "WOFF2 font",
    "jpg": "JPEG image",
    "png": "PNG image",
    "webp": "WebP image",
    "psd": "Photoshop document",
    "wav": "WAV sound",
    "mp3": "MP3 sound",
    "aac": "AAC sound",
    "m4a": "M4A sound",
    "flac": "FLAC sound",
    "ogg": "Ogg sound",
}
# The warnings of the inspection by their code.
WARNINGS = {
    "nested_archive": "Archives inside the archive: they were not inspected, and a reviewer may ask what they contain.",
    "program": "Programs or scripts: buyers' systems may block them, and reviewers check them closely.",
    "unsafe_path": "Paths that lead outside the target folder: many programs refuse to unpack them.",
    "unprintable_name": "Names with invisible characters.",
    "duplicate_name": "Duplicate names: only one of them is kept when unpacking.",
    "symlink": "Links to other files: they are lost on some systems.",
    "hardlink": "Links to other files: they are lost on some systems.",
    "device": "Entries that are not files.",
    "encrypted": "Encrypted entries: they can't be inspected, and buyers need a password.",
    "hidden_unicode": "Invisible characters in the texts of a skill: an agent may read what people don't see.",
    "overrides_instructions": "Texts of a skill that tell an agent to ignore its instructions.",
    "hides_from_user": "Texts of a skill that tell an agent to keep something from its user.",
    "sends_secrets": "Texts of a skill that tell an agent to send secrets to a host.",
    "download_to_shell": "Commands that download a script and run it unseen.",
    "encoded_to_shell": "Commands that decode a script and run it unseen.",
    "unsearched": "Files of a skill that were not searched, or not for instructions to an agent: they are too many, too large or unreadable.",
    "hidden_comment": "Instructions in comments, which people don't see in the rendered text.",
}
EXTENSIONS_SHOWN = 8
NAMES_SHOWN = 6


def detail_rows_of(technical: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return label and value of each technical detail."""
    name = technical.get("format", "")
    return [("Type", FORMAT_NAMES.get(name, name)), *_contents(technical), *_font(technical), *_image(technical), *_sound(technical)]


def warnings_of(technical: Mapping[str, Any]) -> list[tuple[str, int, list[str]]]:
    """Return the warnings: the explanation, the number of occurrences, and examples of names."""
    found: list[Mapping[str, Any]] = technical.get("warnings", [])
    return [(WARNINGS.get(each["code"], each["code"]), each["count"], each["examples"]) for each in found]


def _contents(technical: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if technical.get("format") in {"zip", "tar", "tar.gz", "tar.bz2", "tar.xz"}:
        count, extensions = technical.get("entryCount", 1), technical.get("contentsByExtension", {})
        most = sorted(extensions.items(), key=lambda item: (-item[1], item[0]))
        named = [f"{intcomma(number)} {extension or 'without an extension'}" for extension, number in most[:EXTENSIONS_SHOWN]]
        rest = ["others"] if len(most) > EXTENSIONS_SHOWN else []
        yield "Entries", f"{intcomma(count)} ({', '.join(named + rest)})" if named else intcomma(count)
    if skill := technical.get("skill"):
        yield "Skill", skill.get("name") or skill.get("path", "")


def _font(technical: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    families, axes = technical.get("familyNames", []), technical.get("variableAxes", [])
    if families:
        yield "Families", _first_names(families)
    if technical.get("glyphCount"):
        several = len([each for each in technical.get("members", []) if "glyphCount" in each]) > 1
        yield "Glyphs", intcomma(technical["glyphCount"]) + (" in the largest font" if several else "")
    if axes:
        yield "Variable axes", ", ".join(axes)
    if scripts := technical.get("scripts"):
        yield "Scripts", _first_names(scripts)


def _first_names(names: Sequence[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _image(technical: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if technical.get("width") and technical.get("height"):
        depth = f", {technical['bitDepth']} bit" if technical.get("bitDepth") else ""
        yield "Size in pixels", f"{technical['width']} by {technical['height']}{depth}"


def _sound(technical: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if technical.get("durationSeconds"):
        yield "Length", _duration(technical["durationSeconds"])
    if technical.get("sampleRate"):
        yield "Sample rate", f"{technical['sampleRate'] / 1000:g} kHz, {_channels(technical.get('channels', 1))}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} minutes" if minutes else f"{seconds:.1f} seconds"


def _channels(count: int) -> str:
    return {1: "mono", 2: "stereo"}.get(count, f"{count} channels")


# The page where a field is edited, by its name in the API. The slug has none: it is fixed once the listing has been submitted.
_ROUTES = {
    **dict.fromkeys(("title", "categorySlug", "shortDescription", "description", "tags"), "studio-details"),
    **dict.fromkeys(("version", "fileType", "supportedPlatforms", "videoUrl"), "studio-details"),
    **dict.fromkeys(("aiTraining", "aiOrigin", "aiParts"), "studio-details"),
    **dict.fromkeys(("basePrice", "priceInr", "priceEur", "discountPercent", "taxRatePercent"), "studio-prices"),
    **dict.fromkeys(("allowedLicenseSlugs", "readme"), "studio-licences"),
    **dict.fromkeys(("file", "previews"), "studio-files"),
}


def finding_rows(findings: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return a review's findings with the name of the field, and as `route` the page where it is fixed, empty if there is none."""
    return [{**finding, "field": field_label(finding["field"]), "route": _ROUTES.get(finding["field"], "")} for finding in findings]


@dataclass(frozen=True)
class Proceeds:
    """The price of one licence tier in one currency, and its split.

    `list_minor` is the price before the discount, given for the first permitted tier only.
    """

    currency: Currency
    list_minor: int | None
    price_minor: int
    split: Split


class ListingProceeds(NamedTuple):
    """The name of each licence tier that buyers can choose, with its proceeds in each currency in which it is sold.

    The first has the listing's price. `unpriced` are the currencies of wallets for which the listing has no price; nothing is sold in other currencies.
    """

    is_free: bool
    tiers: list[tuple[str, list[Proceeds]]]
    unpriced: list[str]


def proceeds_of(listing: Listing) -> ListingProceeds:
    """Return how the price of a sale is divided in each licence tier and currency; the listing must be loaded with its vendor's profile."""
    tiers = active_tiers()
    permitted = permitted_tiers(listing, tiers)
    paid_in = [currency for currency in Currency if currency in WALLET_CURRENCIES]
    sold_in = [currency for currency in paid_in if current_price(listing, currency) is not None]
    by_tier = [
        (tier.name, [_proceeds(listing, tier, tiers, currency, first=tier is permitted[0]) for currency in sold_in]) for tier in permitted
    ]
    return ListingProceeds(is_free(listing), by_tier, [currency.value for currency in paid_in if currency not in sold_in])


def _proceeds(listing: Listing, tier: LicenseTier, tiers: Sequence[LicenseTier], currency: Currency, *, first: bool) -> Proceeds:
    price = price_of(listing, tier, tiers, currency) or 0
    commission_rate_bp = listing.store.vendor_profile.commission_rate_bp
    split = split_sale(price, tax_minor=included_tax(price, listing.tax_rate_bp), commission_rate_bp=commission_rate_bp)
    return Proceeds(currency, list_prices(listing).by_currency[currency] if first else None, price, split)


MAX_STEPS = 20
STEP_LABELS = {
    "listing.submit": "Sent for review",
    "listing.withdraw": "Withdrawn from the review",
    "listing.approve": "Published",
    "listing.reject": "Sent back by a reviewer",
    "listing.takedown": "Taken off sale by a reviewer",
    "listing.unpublish": "Taken off sale by you",
    "listing_update.submit": "New file sent for review",
    "listing_update.withdraw": "New file withdrawn from the review",
    "listing_update.approve": "New file on sale",
    "listing_update.reject": "New file sent back by a reviewer",
    "listing.restore": "On sale again after your appeal",
    "listing.reopen": "In review again after your appeal",
    "listing_update.reopen": "New file in review again after your appeal",
}


def last_steps(listing: Listing) -> list[AuditEntry]:
    """Return the audit entries of the last steps, newest first, with their appeals."""
    return list(history_of(listing).filter(action__in=STEP_LABELS).select_related("appeal")[:MAX_STEPS])


def timeline_of(listing: Listing, entries: Iterable[AuditEntry]) -> list[tuple[str, datetime]]:
    """Return label and time of the last steps, newest first. Where these are all, they include the creation of the listing."""
    steps = [(STEP_LABELS[entry.action], entry.at) for entry in entries]
    return steps if len(steps) == MAX_STEPS else [*steps, ("Created", listing.created_at)]


class CheckTexts(NamedTuple):
    """The texts of a check, and the route and anchor of where it is fixed, with the text of the link; an empty `failed` stands for the check's own detail."""

    title: str
    passed: str
    failed: str
    route: str
    link: str
    anchor: str = ""


_CHECK_TEXTS = {
    "file_integrity": CheckTexts("The file", "It is stored as you uploaded it.", "", "studio-files", "Go to the file", "#file"),
    "preview_thumbnail": CheckTexts(
        "The cover picture",
        "It is shown on the listing's card in the storefront.",
        "Upload one. It is shown on the listing's card in the storefront.",
        "studio-files",
        "Go to the pictures",
        "#previews",
    ),
    "pricing": CheckTexts("The prices", "All prices and the discount are valid.", "", "studio-prices", "Go to the prices"),
    "licensing": CheckTexts(
        "The licences",
        "Buyers can choose at least one.",
        "None of the licences that you allow is offered any more. Allow another one.",
        "studio-licences",
        "Go to the licences",
    ),
}


@dataclass(frozen=True)
class CheckRow:
    """A check in the checklist. `detail` is what was found, or what to do where it failed."""

    texts: CheckTexts
    passed: bool
    detail: str
    warning: str


def may_submit(listing: Listing) -> bool:
    """Tell whether the listing, or a new file of it, can be submitted now."""
    if listing.status == ListingStatus.PUBLISHED:
        return listing.candidate_deliverable_id is not None and listing.update_status != UpdateStatus.PENDING_REVIEW
    return listing.status != ListingStatus.PENDING_REVIEW


def checklist_of(listing: Listing) -> list[CheckRow]:
    """Run the checks, without reading a stored file, which may take minutes, and return their rows."""
    return check_rows(map(asdict, run_checks(listing, read=False)))


def check_rows(outcomes: Iterable[Mapping[str, Any]]) -> list[CheckRow]:
    """Return the rows of checks, from their outcomes by the service or a stored review."""
    rows = []
    for outcome in outcomes:
        texts, passed = _CHECK_TEXTS[outcome["name"]], outcome["passed"]
        detail = (texts.passed if passed else texts.failed) or outcome["detail"]
        rows.append(CheckRow(texts, passed, detail, outcome["warning"]))
    return rows
