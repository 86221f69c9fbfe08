"""Made-up listings as plain values; the same seed gives the same ones."""

import hashlib
import itertools
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from marketplace.accounts.models import Tier

from . import vocabulary as words
from .vocabulary import Zipf

# Nothing depends on the day of the run: the same seed gives the same rows, times included.
NEWEST = datetime(2026, 6, 1, tzinfo=UTC)
SPAN = timedelta(days=3 * 365)
LISTINGS_OF_A_STORE = 200
# 60 of 100 listings were never bought; of the others few are bought often.
NEVER_BOUGHT = 0.6
MOST_BOUGHT = 200_000
USD_PRICES = [499, 999, 1200, 1900, 2400, 2900, 3900, 4900, 7900, 9900, 14_900, 29_900]
RUPEES_OF_A_DOLLAR = 83
LICENCES: list[list[str] | None] = [None, ["personal", "commercial"], ["commercial", "extended"], ["personal"], ["extended"]]


@dataclass(frozen=True)
class SeedStore:
    """A vendor and the store."""

    id: uuid.UUID
    owner_id: uuid.UUID
    name: str
    slug: str


@dataclass(frozen=True)
class SeedListing:
    """One listing and the file behind it."""

    id: uuid.UUID
    file_id: uuid.UUID
    store_id: uuid.UUID
    title: str
    slug: str
    summary: str
    description: str
    category: str
    tags: list[str]
    usd: int
    inr: int | None
    eur: int | None
    discount_bp: int
    tax_rate_bp: int
    file_type: str
    platforms: str
    version: str
    licences: list[str] | None
    tier: str
    published_at: datetime
    purchases: int
    file_size: int
    sha256: str


class Maker:
    """Draws stores and listings from one random sequence."""

    def __init__(self, seed: int, categories: list[str]) -> None:
        self.seed = seed
        self._rng = random.Random(seed)
        self._names = Zipf.of(words.invented_names(self._rng), words.NAMES_EXPONENT)
        self._categories = Zipf.of(categories, 0.7)
        self._nouns = {slug: Zipf.of(words.NOUNS.get(slug, words.STYLES)) for slug in categories}
        self._types = {slug: Zipf.of(words.FILE_TYPES.get(slug, ["ZIP"])) for slug in categories}
        self._platforms = {slug: Zipf.of(words.PLATFORMS.get(slug, ["Any"])) for slug in categories}
        self._styles, self._tags, self._filler = Zipf.of(words.STYLES), Zipf.of(words.TAGS), Zipf.of(words.FILLER, 0.5)
        self._tiers = Zipf.of([tier.value for tier in Tier], 1.5)
        self._prices = Zipf.of(USD_PRICES, 0.6)
        self._licences = Zipf.of(LICENCES, 1.2)

    def stores(self, listings: int) -> list[SeedStore]:
        """Return the stores of this many listings."""
        made = []
        for number in range(max(1, listings // LISTINGS_OF_A_STORE)):
            name = f"{self._names.draw(self._rng)} {self._rng.choice(('Studio', 'Type', 'Works', 'Foundry', 'Labs', 'Collective'))}"
            made.append(SeedStore(self._id(NEWEST - SPAN), self._id(NEWEST - SPAN), name, f"seed-{self.seed}-{number}"))
        return made

    def listings(self, count: int, stores: list[SeedStore]) -> Iterator[SeedListing]:
        """Yield listings from the oldest to the newest."""
        vendors = Zipf.of(stores, 0.6)
        step = SPAN / max(count, 1)
        for number in range(count):
            yield self._listing(number, vendors.draw(self._rng).id, NEWEST - SPAN + step * number)

    def _listing(self, number: int, store_id: uuid.UUID, published_at: datetime) -> SeedListing:
        rng, category = self._rng, self._categories.draw(self._rng)
        title = self._title(category)
        usd = 0 if rng.random() < 0.03 else self._prices.draw(rng)
        made = self._id(published_at)
        return SeedListing(
            id=made,
            file_id=self._id(published_at),
            store_id=store_id,
            title=title,
            slug=f"{title.lower().replace(' ', '-')[:50]}-{self.seed}-{number}",
            summary=f"{title}: {' '.join(self._filler.draw_many(rng, 9))}."[:200],
            description=f"{self._styles.draw(rng)} {' '.join(self._filler.draw_many(rng, 40))} {self._names.draw(rng)}".capitalize(),
            category=category,
            tags=list(dict.fromkeys(self._tags.draw_many(rng, rng.randint(2, 6)))),
            usd=usd,
            # Three of four listings have a price in rupees, every second one in euros.
            inr=usd * RUPEES_OF_A_DOLLAR // 100 * 100 if rng.random() < 0.75 else None,
            eur=usd * 92 // 100 if rng.random() < 0.5 else None,
            discount_bp=rng.choice((1000, 2500, 5000)) if rng.random() < 0.15 else 0,
            tax_rate_bp=rng.choice((0, 1800, 2000)),
            file_type=self._types[category].draw(rng),
            platforms=", ".join(dict.fromkeys(self._platforms[category].draw_many(rng, rng.randint(1, 3)))),
            version=f"{rng.randint(1, 4)}.{rng.randint(0, 9)}",
            licences=self._licences.draw(rng),
            tier=self._tiers.draw(rng),
            published_at=published_at,
            purchases=self._purchases(),
            file_size=rng.randint(20_000, 400_000_000),
            sha256=hashlib.sha256(made.bytes).hexdigest(),
        )

    def _title(self, category: str) -> str:
        rng, nouns = self._rng, self._nouns[category]
        parts = [self._names.draw(rng)]
        if rng.random() < 0.4:
            parts.append(self._styles.draw(rng).capitalize())
        parts += [noun.capitalize() for noun in dict.fromkeys(nouns.draw_many(rng, rng.randint(1, 2)))]
        if rng.random() < 0.2:
            parts.append(self._names.draw(rng))
        return " ".join(parts)

    def _purchases(self) -> int:
        if self._rng.random() < NEVER_BOUGHT:
            return 0
        return min(int(self._rng.paretovariate(0.8)), MOST_BOUGHT)

    def _id(self, at: datetime) -> uuid.UUID:
        """Return a UUIDv7 of this time."""
        milliseconds = int(at.timestamp() * 1000)
        number = milliseconds << 80 | self._rng.getrandbits(80)
        return uuid.UUID(int=number & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62)


def batches(rows: Iterator[SeedListing], size: int) -> Iterator[list[SeedListing]]:
    """Yield the rows in lists of at most `size`."""
    while batch := list(itertools.islice(rows, size)):
        yield batch
