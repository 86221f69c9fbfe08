"""The data of a listing's page: samples, licence tiers with prices, and what the viewer owns."""

from dataclasses import dataclass
from operator import attrgetter

from catalog import pricing
from catalog.font_tester import Tester, type_tester_of
from catalog.models import FilePreview, LicenseTier, Listing, Preview
from catalog.models.files import FilePreviewKind, PreviewKind
from catalog.pricing import Prices
from catalog.selectors.browse import Row
from catalog.selectors.cards import Picture, picture_of, related_cards
from catalog.selectors.listings import file_previews_of
from catalog.selectors.taxonomy import active_tiers
from library.selectors import is_favourite, licences_for
from marketplace.accounts.models import Tier, User
from marketplace.core.money import WALLET_CURRENCIES, Currency

from .currency import amount_in

RELATED = 4


@dataclass(frozen=True)
class OfferedTier:
    """A licence tier on sale, with its prices with and without the discount."""

    tier: LicenseTier
    prices: Prices
    list_prices: Prices
    owned: bool


@dataclass(frozen=True)
class Samples:
    """The public samples of a listing."""

    # Each in a small and in its full size, with its alternative text.
    pictures: list[tuple[Picture, Picture, str]]
    sound: Preview | None
    tester: Tester | None
    animations: list[FilePreview]


@dataclass(frozen=True)
class AssetOffer:
    """What a listing's page offers a viewer."""

    # With store, category and reviewed file.
    listing: Listing
    samples: Samples
    tiers: list[OfferedTier]
    # Prices of the first tier, with the discount.
    prices: Prices
    # Wallet currencies that it can be paid in.
    currencies: list[Currency]
    # The slug of the tier of the viewer's licence that the others would replace; empty without one.
    upgrade_from: str
    # Listings of the category, those with common tags first.
    related: list[Row]
    # Whether the viewer has the account tier that the listing needs; None for visitors.
    has_account_tier: bool | None
    is_favourite: bool
    # Whether the viewer owns any licence of it, also one that is no longer on sale.
    is_owned: bool

    @property
    def preselected(self) -> str:
        """The slug of the tier that is selected at first: the first that the viewer does not own; empty if all are owned."""
        return next((offered.tier.slug for offered in self.tiers if not offered.owned), "")


def offer_of(listing: Listing, viewer: User | None) -> AssetOffer:
    """Return what the page of a listing offers a viewer, in six queries at most; the listing need not be on sale."""
    tiers = active_tiers()
    owned_licences = [] if viewer is None else licences_for(viewer, listing)
    owned = [licence.tier for licence in owned_licences]
    # A licence that someone else paid for cannot be upgraded.
    highest = max((licence.tier for licence in owned_licences if not licence.is_for_other), key=attrgetter("price_factor"), default=None)
    offered = [
        OfferedTier(
            tier=tier,
            prices=pricing.prices_of(listing, tier, tiers),
            list_prices=pricing.prices_of(listing, tier, tiers, discounted=False),
            owned=tier in owned,
        )
        for tier in pricing.permitted_tiers(listing, tiers)
        # An owner is offered upgrades only.
        if highest is None or tier in owned or tier.price_factor > highest.price_factor
    ]
    prices = pricing.current_prices(listing)
    return AssetOffer(
        listing=listing,
        samples=samples_of(listing),
        tiers=offered,
        prices=prices,
        currencies=[code for code in WALLET_CURRENCIES if amount_in(prices, code)[1] == code],
        upgrade_from="" if highest is None else highest.slug,
        related=related_cards(listing, limit=RELATED),
        has_account_tier=None if viewer is None else Tier(viewer.tier).rank >= Tier(listing.tier_requirement).rank,
        is_favourite=viewer is not None and is_favourite(viewer, listing),
        is_owned=bool(owned_licences),
    )


def samples_of(listing: Listing) -> Samples:
    """Return the samples of a listing, each picture in two sizes."""
    previews = list(listing.previews.all())
    pictures = []
    for preview in previews:
        if preview.kind == PreviewKind.GALLERY:
            small = picture_of(preview.pk, preview.details, preview.renditions)
            whole = picture_of(preview.pk, preview.details, preview.renditions, small=False)
            if small and whole:
                pictures.append((small, whole, preview.alt_text))
    by_kind = {preview.kind: preview for preview in previews}
    made = file_previews_of(listing)
    return Samples(
        pictures,
        sound=by_kind.get(PreviewKind.AUDIO_PREVIEW),
        tester=type_tester_of(by_kind.get(PreviewKind.FONT_SPECIMEN), made),
        animations=[preview for preview in made if preview.kind == FilePreviewKind.ANIMATION],
    )
