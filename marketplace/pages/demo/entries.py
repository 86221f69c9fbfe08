"""The demo catalog as it is written in `catalog.toml`, and the files of each entry."""

import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.utils.text import slugify

from marketplace.accounts.models import Tier
from marketplace.core.money import to_minor

from . import archives, sounds
from .fonts import Style, as_woff2, build_font, build_variable_font
from .images import paint_card, paint_specimen

CATALOG = Path(__file__).with_name("catalog.toml")
VERSION = "1.0.0"
PREVIEW_SECONDS = 2
SOUND_SECONDS = 4
PLATFORMS = {
    "fonts": "Any application that takes TrueType fonts",
    "motion": "Lottie players on the web, iOS and Android",
    "templates": "Any browser or HTML editor",
    "presets": "DaVinci Resolve, Premiere Pro, Photoshop, GIMP",
    "ai-skills": "Assistants that read SKILL.md",
}
SOUND_PLATFORMS = "Any audio workstation"


@dataclass(frozen=True)
class Entry:
    """One listing of the demo catalog.

    Args:
        title: Its title; the slug is made from it.
        category: Slug of its category.
        summary: Its short description.
        tags: Its tags.
        prices: Amounts by currency, as they are written.
        discount: Per cent.
        tier: What a buyer's account needs.
        store: Who sells it: `vendor` or `otherVendor`.
        waiting: Whether it stays in review.
        sound: Which sound it holds, for sound packs.
        style: Numbers of its font, for fonts.
        bold: Weight at the heavy end, for variable fonts.
    """

    title: str
    category: str
    summary: str
    tags: list[str]
    prices: dict[str, str]
    discount: int = 0
    tier: str = Tier.FREE
    store: str = "vendor"
    waiting: bool = False
    sound: str = ""
    style: dict[str, Any] = field(default_factory=dict)
    bold: int = 0

    @property
    def slug(self) -> str:
        """The listing's slug."""
        return slugify(self.title)

    def price_minor(self, currency: str) -> int | None:
        """Return the price in minor units, None where none is set."""
        return to_minor(Decimal(self.prices[currency])) if currency in self.prices else None


@dataclass(frozen=True)
class Media:
    """What an entry's files are: the deliverable and its previews."""

    filename: str
    deliverable: bytes = field(repr=False)
    gallery: tuple[bytes, ...] = field(repr=False)
    specimen: bytes | None = field(default=None, repr=False)
    audio: bytes | None = field(default=None, repr=False)


def load_entries() -> list[Entry]:
    """Return the demo catalog in its order."""
    return [Entry(**table) for table in tomllib.loads(CATALOG.read_text(encoding="utf-8"))["listing"]]


def build_media(entry: Entry, lettering: bytes) -> Media:
    """Make the entry's files; `lettering` is the font that the cards of other categories are set in."""
    if entry.category == "fonts":
        return _font_media(entry)
    card = paint_card(entry.title, entry.category, lettering, seed=entry.slug)
    if entry.sound:
        return _sound_media(entry, card)
    match entry.category:
        case "motion":
            files = archives.motion_files(entry.title, entry.slug)
        case "templates":
            files = archives.template_files(entry.title, entry.slug)
        case "presets":
            files = archives.preset_files(entry.title, entry.slug)
        case _:
            files = archives.skill_files(entry.title, entry.slug, entry.summary)
    return Media(f"{entry.slug}-{VERSION}.zip", archives.zipped(files), (card,))


def platforms_of(entry: Entry) -> str:
    """Return which tools take the entry's files."""
    return SOUND_PLATFORMS if entry.sound else PLATFORMS[entry.category]


def _font_media(entry: Entry) -> Media:
    style = Style(**entry.style)
    if entry.bold:
        font = build_variable_font(entry.title, style, entry.bold)
        filename, deliverable = f"{entry.slug}-{VERSION}.ttf", font
    else:
        font = build_font(entry.title, "Regular", style)
        heavy = build_font(entry.title, "Bold", Style(**entry.style | {"weight": style.weight * 1.5}))
        name = entry.title.replace(" ", "")
        filename = f"{entry.slug}-{VERSION}.zip"
        deliverable = archives.zipped({f"{name}-Regular.ttf": font, f"{name}-Bold.ttf": heavy})
    pictures = (paint_card(entry.title, entry.category, font, seed=entry.slug), paint_specimen(entry.title, font, seed=entry.slug))
    return Media(filename, deliverable, pictures, specimen=as_woff2(font))


def _sound_media(entry: Entry, card: bytes) -> Media:
    play = sounds.SOUNDS[entry.sound]
    files = {f"{entry.slug}-{take}.wav": play(SOUND_SECONDS, seed=f"{entry.slug}{take}") for take in (1, 2)}
    preview = play(PREVIEW_SECONDS, seed=f"{entry.slug}1")
    return Media(f"{entry.slug}-{VERSION}.zip", archives.zipped(files), (card,), audio=preview)
