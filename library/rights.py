"""Whether an asset may be used for something: under the licences that a user owns, and under those on sale."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from django.db.models import TextChoices

from catalog.ai_use import training_sentence
from catalog.models import LicenseTerms, Listing
from catalog.models.listings import AiTraining
from catalog.pricing import Prices, permitted_tiers, prices_of, with_running_discount
from catalog.selectors.listings import lookup
from catalog.selectors.taxonomy import active_tiers, current_terms
from catalog.uses import Use, UsePermission, UseTerms, UseVerdict
from developers.principals import Principal
from marketplace.accounts.models import User
from marketplace.core.errors import NotFound
from marketplace.core.scopes import Scope

from .models import Licence


class RightsDecision(TextChoices):
    """Whether an asset may be used for something."""

    YES = "yes", "A licence that the user owns permits it"
    BUY = "buy", "A licence on sale permits it"
    UNCLEAR = (
        "unclear",
        "No licence permits it. The terms of at least one do not mention it (ask the vendor), or a licence of the user is suspended",
    )
    NO = "no", "Every licence forbids it, or this quantity of it"


@dataclass(frozen=True)
class LicenseRights:
    """What a licence says about a use."""

    terms: LicenseTerms
    use_terms: UseTerms
    # Whether they permit it in the quantity.
    verdict: UseVerdict
    # What the licence costs now; None if the user owns it.
    prices: Prices | None


@dataclass(frozen=True)
class AssetRights:
    """Whether an asset may be used for something."""

    listing: Listing
    use: Use
    quantity: int
    # Those that the user owns, without suspended ones, then those on sale, the cheapest first.
    licenses: list[LicenseRights]
    # Whether a licence that the user owns is suspended.
    suspended: bool

    @property
    def permitting(self) -> LicenseRights | None:
        """The owned licence that permits it, else the cheapest one on sale; None if none does."""
        return next((rights for rights in self.licenses if rights.verdict == UseVerdict.YES), None)

    @property
    def decision(self) -> RightsDecision:
        if self.permitting is not None:
            return RightsDecision.YES if self.permitting.prices is None else RightsDecision.BUY
        forbidden = self.licenses and all(rights.verdict == UseVerdict.NO for rights in self.licenses)
        return RightsDecision.NO if forbidden and not self.suspended else RightsDecision.UNCLEAR


def rights_to(asset_id: str, use: Use, quantity: int, *, owner: User | None) -> AssetRights:
    """Return whether a listing that is on sale, or that the owner has a licence for, may be used for something, in four queries at most.

    Raises:
        NotFound: there is no such listing.
    """
    listing = with_running_discount(Listing.objects.select_related("store")).filter(**lookup(asset_id)).first()
    if listing is None:
        raise NotFound
    # Newest first; those that an upgrade replaced, too.
    licences = Licence.objects.filter(holder=owner, listing=listing, revoked_at__isnull=True).select_related("terms__tier")
    unrevoked = [] if owner is None else list(licences.order_by("-acquired_at", "-id"))
    owned = [licence for licence in unrevoked if licence.is_current]
    if not (owned or listing.is_on_sale):
        raise NotFound
    considered: list[tuple[LicenseTerms, str, Prices | None]] = [
        (licence.terms, licence.ai_training, None) for licence in owned if licence.suspended_at is None
    ]
    if listing.is_on_sale:
        considered.extend((terms, listing.ai_training, prices) for terms, prices in _on_sale(listing, unrevoked))
    licenses = []
    for terms, ai_training, prices in considered:
        use_terms = _use_terms(use, terms, ai_training)
        licenses.append(LicenseRights(terms, use_terms, use_terms.verdict_on(quantity), prices))
    suspended = any(licence.suspended_at is not None for licence in owned)
    return AssetRights(listing, use, quantity, licenses, suspended)


def library_owner(principal: Principal | None) -> User | None:
    """Return the user whose library a credential can read, None without such a credential."""
    return principal.user if principal is not None and Scope.LIBRARY_READ in principal.scopes else None


def _use_terms(use: Use, terms: LicenseTerms, ai_training: str) -> UseTerms:
    """Return what the terms say about a use. About AI training, the vendor's statement takes precedence over them."""
    if use == Use.AI_TRAINING and ai_training != AiTraining.BY_LICENCE:
        permission = UsePermission.ALLOWED if ai_training == AiTraining.ALLOWED else UsePermission.FORBIDDEN
        return UseTerms(use, permission, clause=training_sentence(ai_training))
    return UseTerms.of(terms.permissions, use)


def _on_sale(listing: Listing, unrevoked: Iterable[Licence]) -> Iterator[tuple[LicenseTerms, Prices]]:
    """Yield the current terms and the prices of the licences that the user can buy, from the cheapest: not one that an upgrade replaced."""
    tiers, terms, owned_tiers = active_tiers(), current_terms(), {licence.tier_id for licence in unrevoked}
    for tier in sorted(permitted_tiers(listing, tiers), key=attrgetter("price_factor")):
        if tier.pk in terms and tier.pk not in owned_tiers:
            yield terms[tier.pk], prices_of(listing, tier, tiers)
