"""The query and the response of GET assets/{id}/rights, shared by the API and the MCP server."""

from typing import Annotated, Any, Self

from django.conf import settings
from django.urls import reverse
from pydantic import Field
from rest_framework import serializers

from catalog import bounds
from catalog.pricing import Prices
from catalog.uses import UNITS, Use, UsePermission, UseVerdict
from marketplace.accounts.models import User
from marketplace.api.fields import Choice
from marketplace.api.response_models import AmountOrNone, Id, ResponseModel, choice_schema
from marketplace.api.serializers import QueryInteger

from ..rights import LicenseRights, RightsDecision, rights_to

_UNITS = ", ".join(f"{unit} for {use.value}" for use, unit in UNITS.items())


class RightsQuery(serializers.Serializer[Any]):
    """The use, and how much of it."""

    use = Choice(Use.choices, help_text="What the asset is to be used for.")
    quantity = QueryInteger(
        min_value=1,
        max_value=bounds.MAX_USE_QUANTITY,
        default=1,
        help_text=f"How much of it: {_UNITS}. It does not matter for other uses.",
    )


class LicenseRightsRecord(ResponseModel):
    """What a licence says about the use."""

    slug: str
    name: str
    owned: bool = Field(description="Whether the caller owns it; false without a credential that can read the library.")
    verdict: Annotated[str, choice_schema(UseVerdict)] = Field(description="Whether it permits the use in this quantity.")
    permission: Annotated[str, choice_schema(UsePermission)] = Field(description="What its terms say about the use.")
    maximum_quantity: int | None = Field(description="The largest quantity that it permits; null if its terms name none.")
    clause: str = Field(description="The passage of its terms that decides; empty if they do not mention the use.")
    terms_version: int = Field(description="For an owned licence, the version at the purchase; else the newest.")
    terms_sha256: str = Field(description="SHA-256 of the terms' text.")
    terms_url: str = Field(description="The page with the terms.")
    price_usd: AmountOrNone = Field(description="What it costs now; null if the caller owns it.")
    price_inr: AmountOrNone
    price_eur: AmountOrNone

    @classmethod
    def of(cls, rights: LicenseRights) -> Self:
        terms, use_terms, prices = rights.terms, rights.use_terms, rights.prices or Prices(None, None, None)
        return cls(
            slug=terms.tier.slug,
            name=terms.name,
            owned=rights.prices is None,
            verdict=rights.verdict,
            permission=use_terms.permission,
            maximum_quantity=use_terms.quantity,
            clause=use_terms.clause,
            terms_version=terms.version,
            terms_sha256=terms.sha256,
            terms_url=settings.BASE_URL + reverse("license-terms", args=[terms.tier.slug, terms.version]),
            price_usd=prices.usd,
            price_inr=prices.inr,
            price_eur=prices.eur,
        )


class AssetRightsRecord(ResponseModel):
    """Whether an asset may be used for something."""

    asset_id: Id
    slug: str
    use: Annotated[str, choice_schema(Use)] = Field(description="The use that was asked for.")
    quantity: int = Field(description="How much of it.")
    decision: Annotated[str, choice_schema(RightsDecision)] = Field(
        description="; ".join(f"{decision.value}: {decision.label[:1].lower()}{decision.label[1:]}" for decision in RightsDecision) + "."
    )
    license_slug: str | None = Field(description="The owned licence that permits it, else the cheapest one on sale; null if none does.")
    licenses: list[LicenseRightsRecord] = Field(
        description="The licences that the caller owns, without suspended ones, then those on sale, the cheapest first."
    )


def asset_rights(asset_id: str, query: dict[str, Any], owner: User | None) -> AssetRightsRecord:
    """Return the response to a validated `RightsQuery`.

    Raises:
        NotFound: see `rights_to`.
    """
    rights = rights_to(asset_id, Use(query["use"]), query["quantity"], owner=owner)
    return AssetRightsRecord(
        asset_id=rights.listing.pk,
        slug=rights.listing.slug,
        use=rights.use,
        quantity=rights.quantity,
        decision=rights.decision,
        license_slug=None if rights.permitting is None else rights.permitting.terms.tier.slug,
        licenses=[LicenseRightsRecord.of(each) for each in rights.licenses],
    )
