"""The demo catalog in `catalog.toml`, with the files of each listing in `files/<slug>`."""

import tomllib
import zipfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from django.utils.text import slugify

from catalog.models import Listing
from catalog.models.listings import AiOrigin, AiTraining
from catalog.selectors.listings import listings_on_sale
from library.selectors import current_licences_of
from marketplace.accounts.models import Tier, User
from marketplace.core.money import to_minor

FOLDER = Path(__file__).parent
VERSION = "1.0.0"


@dataclass(frozen=True)
class ListingKind:
    """A kind of listing: its category and the tools that open its files."""

    category: str
    platforms: str


@dataclass(frozen=True)
class CatalogEntry:
    """One listing of the demo catalog.

    Args:
        about: The first paragraph of its description.
        prices: Amounts by currency, as texts.
        pictures: The alternative texts of the gallery, in its order.
        discount: The percentage of its lasting discount.
        sale: The percentage of a discount that runs for a while.
        store: Who sells it: `vendor` or `otherVendor`.
        finding: What its first review found; it is submitted again.
        ai_training: Whether it may be used to train AI models.
        ai_origin: What the vendor declares about parts made with AI.
        ai_parts: Which they are.
        waiting: Whether it stays in review.
    """

    title: str
    kind: ListingKind
    summary: str
    about: str
    tags: list[str]
    prices: dict[str, str]
    pictures: list[str]
    discount: int = 0
    sale: int = 0
    tier: str = Tier.FREE
    store: str = "vendor"
    finding: str = ""
    ai_training: str = AiTraining.FORBIDDEN
    ai_origin: str = AiOrigin.UNDECLARED
    ai_parts: str = ""
    waiting: bool = False

    @property
    def slug(self) -> str:
        return slugify(self.title)

    @property
    def folder(self) -> Path:
        """The folder of its files: the deliverable, `0.webp` … of the gallery, and `specimen.woff2` or `preview.mp3`."""
        return FOLDER / "files" / self.slug

    @property
    def deliverable(self) -> Path:
        """The file that buyers get."""
        return next(self.folder.glob(f"{self.slug}-{VERSION}.*"))

    @property
    def description(self) -> str:
        """The listing's description in Markdown."""
        contents = [self.deliverable.name]
        if self.deliverable.suffix == ".zip":
            with zipfile.ZipFile(self.deliverable) as archive:
                contents = archive.namelist()
        inside = "\n".join(f"- `{name}`" for name in contents)
        return f"{self.about}\n\n**What you get**\n\n{inside}\n\nFor {self.kind.platforms}."

    def price_minor(self, currency: str) -> int:
        """Return the price in minor units."""
        return to_minor(Decimal(self.prices[currency]))


def load_entries() -> list[CatalogEntry]:
    """Return the demo catalog in the order of publication."""
    catalog: dict[str, Any] = tomllib.loads((FOLDER / "catalog.toml").read_text(encoding="utf-8"))
    kinds = {name: ListingKind(**fields) for name, fields in catalog["kinds"].items()}
    return [CatalogEntry(**fields | {"kind": kinds[fields["kind"]]}) for fields in catalog["listing"]]


def listings_to_buy(user: User) -> QuerySet[Listing]:
    """Return the listings with a price in INR that every tier can buy and the user does not own, in the order of publication."""
    owned = current_licences_of(user).values("listing")
    return listings_on_sale().filter(price_inr_minor__gt=0, tier_requirement=Tier.FREE).exclude(pk__in=owned).order_by("pk")
