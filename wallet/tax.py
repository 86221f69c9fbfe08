"""Decides how a sale is taxed: by which rate, where, and in which parts.

Every buyer pays the same price; only its split depends on the buyer.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import TextChoices

from marketplace.core.bounds import WHOLE_BP
from marketplace.core.money import divide_half_up, included_tax

from .places import EUROPEAN_UNION, INDIA

# Rates in basis points by country and region; the region is empty for a whole country.
Rates = Mapping[tuple[str, str], int]


class Treatment(TextChoices):
    """The rules by which a sale is taxed."""

    LISTING = "listing", "The listing's rate"
    DOMESTIC = "domestic", "The rate of the seller's country"
    INTRA_STATE = "intra_state", "CGST and SGST"
    INTER_STATE = "inter_state", "IGST"
    DESTINATION = "destination", "The rate of the consumer's country"
    REVERSE_CHARGE = "reverse_charge", "Reverse charge"
    EXPORT = "export", "Export"


@dataclass(frozen=True)
class Party:
    """The facts about a seller or a buyer that decide the tax.

    Args:
        country: The country of the billing address.
        region: In India the code of the state; elsewhere of no effect unless there is a rate for it.
        tax_id: A valid tax id; empty for a consumer.
        connection_country: The country from which the billing address was entered, a second piece of evidence; empty if unknown.
    """

    country: str
    region: str = ""
    tax_id: str = ""
    connection_country: str = ""


@dataclass(frozen=True)
class TaxDecision:
    """The tax of a sale: the rules that apply, and the rate in basis points."""

    treatment: Treatment
    rate_bp: int


@dataclass(frozen=True)
class TaxLine:
    """A line of tax on an invoice."""

    name: str
    rate_percent: float
    amount_minor: int


def decide_tax(*, seller: Party | None, buyer: Party | None, rates: Rates, listing_rate_bp: int) -> TaxDecision:
    """Return how a sale is taxed.

    Args:
        seller: The seller of record; None if the operator has entered none.
        buyer: The buyer's billing details; None if there are none.
        rates: The rates in force.
        listing_rate_bp: The listing's rate, for countries without a rate and for sellers outside India and the EU.
    """
    if seller is None or seller.country not in {INDIA, *EUROPEAN_UNION}:
        return TaxDecision(Treatment.LISTING, listing_rate_bp)
    place = _place_of_supply(seller, buyer)

    def taxed(treatment: Treatment) -> TaxDecision:
        of_country = rates.get((place.country, ""), listing_rate_bp)
        return TaxDecision(treatment, rates.get((place.country, place.region), of_country))

    if seller.country == INDIA:
        if place.country != INDIA:
            return TaxDecision(Treatment.EXPORT, 0)
        return taxed(Treatment.INTRA_STATE if place.region == seller.region else Treatment.INTER_STATE)
    if place.country == seller.country:
        return taxed(Treatment.DOMESTIC)
    if place.country not in EUROPEAN_UNION:
        return TaxDecision(Treatment.EXPORT, 0)
    if place.tax_id:
        return TaxDecision(Treatment.REVERSE_CHARGE, 0)
    return taxed(Treatment.DESTINATION)


def _place_of_supply(seller: Party, buyer: Party | None) -> Party:
    """Return the party in whose country the sale is taxed.

    A consumer's foreign country counts if two pieces of evidence agree on it; otherwise the sale is taxed in the seller's.
    A tax id of India or the Union is checked against its country, so it is evidence enough.
    """
    if buyer is None:
        return seller
    checked = buyer.tax_id and buyer.country in {INDIA, *EUROPEAN_UNION}
    if buyer.country == seller.country or checked or buyer.connection_country == buyer.country:
        return buyer
    return seller


def tax_of(price_minor: int, treatment: str, rate_bp: int) -> int:
    """Return the tax inside a price, rounded half up; CGST and SGST are equal halves."""
    if treatment == Treatment.INTRA_STATE:
        return 2 * divide_half_up(price_minor * rate_bp, 2 * (WHOLE_BP + rate_bp))
    return included_tax(price_minor, rate_bp)


def tax_lines(tax_minor: int, treatment: str, rate_bp: int, country: str) -> list[TaxLine]:
    """Return the lines of tax on an invoice; none where no tax is charged by rule."""
    match treatment:
        case Treatment.INTRA_STATE:
            return [TaxLine(name, rate_bp / 200, tax_minor // 2) for name in ("CGST", "SGST")]
        case Treatment.INTER_STATE:
            return [TaxLine("IGST", rate_bp / 100, tax_minor)]
        case Treatment.DOMESTIC | Treatment.DESTINATION:
            return [TaxLine(f"VAT {country}", rate_bp / 100, tax_minor)]
        case Treatment.LISTING:
            return [TaxLine("Tax", rate_bp / 100, tax_minor)]
        case _:
            return []
