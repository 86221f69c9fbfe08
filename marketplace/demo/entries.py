"""The demo catalog as it is written in `catalog.toml`, and the files of each entry."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from typing import Any

from django.utils.text import slugify

from marketplace.accounts.models import Tier
from marketplace.core.money import to_minor

from . import archives, sounds
from .about import PLATFORMS, SOUND_PLATFORMS, describe
from .fonts import Style, as_woff2, build_font, build_variable_font
from .looks import Look
from .pictures.motion import motion_pictures
from .pictures.pages import skill_pictures, template_pictures
from .pictures.scenes import look_pictures, sound_pictures
from .pictures.specimens import font_pictures

CATALOG = Path(__file__).with_name("catalog.toml")
VERSION = "1.0.0"
PREVIEW_SECONDS = 4
SOUND_SECONDS = 4


@dataclass(frozen=True)
class CatalogEntry:
    """One listing of the demo catalog.

    Args:
        title: Its title; the slug is made from it.
        category: Slug of its category.
        summary: Its short description.
        tags: Its tags.
        prices: Amounts by currency, as texts.
        discount: In per cent.
        tier: The tier that a buyer needs.
        store: Who sells it: `vendor` or `otherVendor`.
        waiting: Whether it stays in review.
        sound: Which sound it holds, for sound packs.
        style: Numbers of its font, for fonts.
        bold: Weight at the heavy end, for variable fonts.
        scene: What its pictures show, for motion and templates.
        look: Numbers of its colours, for looks.
        talk: A question and its answers, for skills.
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
    scene: str = ""
    look: dict[str, float] = field(default_factory=dict)
    talk: list[str] = field(default_factory=list)

    @property
    def slug(self) -> str:
        """The listing's slug."""
        return slugify(self.title)

    def price_minor(self, currency: str) -> int | None:
        """Return the price in minor units, None where none is set."""
        return to_minor(Decimal(self.prices[currency])) if currency in self.prices else None


@dataclass(frozen=True)
class Media:
    """The files of an entry: the deliverable, the names of the files in it, and the previews."""

    filename: str
    deliverable: bytes = field(repr=False)
    contents: list[str]
    gallery: tuple[bytes, ...] = field(repr=False)
    specimen: bytes | None = field(default=None, repr=False)
    audio: bytes | None = field(default=None, repr=False)


def load_entries() -> list[CatalogEntry]:
    """Return the demo catalog with the categories interleaved, so that the newest listings are of all categories."""
    entries = [CatalogEntry(**table) for table in tomllib.loads(CATALOG.read_text(encoding="utf-8"))["listing"]]
    by_category = [[entry for entry in entries if entry.category == category] for category in PLATFORMS]
    return [entry for row in zip_longest(*by_category) for entry in row if entry]


def build_media(entry: CatalogEntry) -> Media:
    """Build the entry's files."""
    title, slug = entry.title, entry.slug
    match entry.category:
        case "fonts":
            return _font_media(entry)
        case "motion":
            return _packed(entry, archives.motion_files(title, slug), motion_pictures(title, entry.scene, seed=slug))
        case "templates":
            return _packed(entry, archives.template_files(title, slug), template_pictures(title, entry.scene, seed=slug))
        case "presets" if entry.sound:
            return _sound_media(entry)
        case "presets":
            look = Look(**entry.look)
            pictures = look_pictures(title, look, portrait=entry.scene == "portrait", seed=slug)
            return _packed(entry, archives.preset_files(title, look, slug), pictures)
        case _:
            return _packed(entry, archives.skill_files(title, slug, entry.summary), skill_pictures(title, entry.talk, seed=slug))


def platforms_of(entry: CatalogEntry) -> str:
    """Return which tools open the entry's files."""
    return SOUND_PLATFORMS if entry.sound else PLATFORMS[entry.category]


def description_of(entry: CatalogEntry, media: Media) -> str:
    """Return the description of the entry's listing."""
    return describe(entry.summary, "sound" if entry.sound else entry.category, platforms_of(entry), media.contents)


def _packed(entry: CatalogEntry, files: Mapping[str, bytes | str], pictures: tuple[bytes, ...]) -> Media:
    return Media(f"{entry.slug}-{VERSION}.zip", archives.zipped(files), sorted(files), pictures)


def _font_media(entry: CatalogEntry) -> Media:
    style = Style(**entry.style)
    if entry.bold:
        font = build_variable_font(entry.title, style, entry.bold)
        filename = f"{entry.slug}-{VERSION}.ttf"
        media = Media(filename, font, [filename], ())
    else:
        font = build_font(entry.title, "Regular", style)
        heavy = build_font(entry.title, "Bold", Style(**entry.style | {"weight": style.weight * 1.5}))
        name = entry.title.replace(" ", "")
        media = _packed(entry, {f"{name}-Regular.ttf": font, f"{name}-Bold.ttf": heavy}, ())
    return replace(media, gallery=font_pictures(entry.title, font, seed=entry.slug), specimen=as_woff2(font))


def _sound_media(entry: CatalogEntry) -> Media:
    play = sounds.SOUNDS[entry.sound]
    files = {f"{entry.slug}-{take}.wav": play(SOUND_SECONDS, seed=f"{entry.slug}{take}") for take in (1, 2)}
    preview = play(PREVIEW_SECONDS, seed=f"{entry.slug}1")
    media = _packed(entry, files, sound_pictures(entry.title, preview, seed=entry.slug))
    return replace(media, audio=preview)
