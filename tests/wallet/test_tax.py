"""How a sale is taxed: the treatment, the rate and the amount, by who sells to whom."""

import pytest

from wallet.places import compact_tax_id
from wallet.tax import Party, Rates, Treatment, decide_tax, tax_lines, tax_of

KARNATAKA, MAHARASHTRA = "29", "27"
GSTIN = "29AAGCB7383J1Z4"
VAT_DE, VAT_FR = "DE136695976", "FR40303265045"
BANGALORE, MUMBAI = Party("IN", KARNATAKA, GSTIN), Party("IN", MAHARASHTRA)
BERLIN, PARIS = Party("DE", tax_id=VAT_DE), Party("FR", tax_id=VAT_FR)
NEW_YORK = Party("US", "NY")
RATES: Rates = {("IN", ""): 1800, ("DE", ""): 1900, ("FR", ""): 2000, ("FR", "Corse"): 1000}
LISTING = 500

CASES = [
    # No seller of record, or one whose country has no rules here: the listing's rate.
    ("no seller", None, None, "listing", 500, 10_000, 476),
    ("US seller, no details", NEW_YORK, None, "listing", 500, 10_000, 476),
    ("US seller, EU consumer", NEW_YORK, Party("DE", connection_country="DE"), "listing", 500, 10_000, 476),
    # India.
    ("IN, no details: the seller's state", BANGALORE, None, "intra_state", 1800, 49_900, 7_612),
    ("IN, consumer of the state", BANGALORE, Party("IN", KARNATAKA), "intra_state", 1800, 49_900, 7_612),
    ("IN, consumer of another state", BANGALORE, Party("IN", MAHARASHTRA), "inter_state", 1800, 49_900, 7_612),
    ("IN, connection from elsewhere", BANGALORE, Party("IN", MAHARASHTRA, connection_country="AE"), "inter_state", 1800, 49_900, 7_612),
    ("IN, foreign consumer, shown twice", BANGALORE, Party("US", connection_country="US"), "export", 0, 49_900, 0),
    ("IN, foreign consumer, shown once", BANGALORE, Party("US"), "intra_state", 1800, 49_900, 7_612),
    ("IN, foreign consumer, contradicted", BANGALORE, Party("US", connection_country="IN"), "intra_state", 1800, 49_900, 7_612),
    ("IN, EU business", BANGALORE, BERLIN, "export", 0, 49_900, 0),
    ("IN, US company: its id cannot be checked", BANGALORE, Party("US", tax_id="12-3456789"), "intra_state", 1800, 49_900, 7_612),
    # The European Union: the seller's own country.
    ("DE, no details", BERLIN, None, "domestic", 1900, 11_900, 1_900),
    ("DE, consumer", BERLIN, Party("DE"), "domestic", 1900, 11_900, 1_900),
    ("DE, business", BERLIN, Party("DE", tax_id=VAT_DE), "domestic", 1900, 11_900, 1_900),
    # The European Union: another member state.
    ("DE to FR, consumer shown twice", BERLIN, Party("FR", connection_country="FR"), "destination", 2000, 12_000, 2_000),
    ("DE to FR, consumer shown once", BERLIN, Party("FR"), "domestic", 1900, 11_900, 1_900),
    ("DE to FR, consumer contradicted", BERLIN, Party("FR", connection_country="DE"), "domestic", 1900, 11_900, 1_900),
    ("DE to FR, region with a rate", BERLIN, Party("FR", "Corse", connection_country="FR"), "destination", 1000, 11_000, 1_000),
    ("DE to FR, business", BERLIN, PARIS, "reverse_charge", 0, 12_000, 0),
    ("DE to IT, no rate entered: the listing's", BERLIN, Party("IT", connection_country="IT"), "destination", 500, 10_000, 476),
    ("IT without a rate: the listing's", Party("IT"), Party("IT"), "domestic", 500, 10_000, 476),
    # Beyond the Union.
    ("DE to US, consumer shown twice", BERLIN, Party("US", connection_country="US"), "export", 0, 11_900, 0),
    ("DE to US, consumer shown once", BERLIN, Party("US"), "domestic", 1900, 11_900, 1_900),
    ("DE to IN, business", BERLIN, Party("IN", KARNATAKA, GSTIN), "export", 0, 11_900, 0),
    ("DE to Northern Ireland: services are exported", BERLIN, Party("XI", connection_country="XI"), "export", 0, 11_900, 0),
    # Zero and rounding, half up.
    ("a price of zero", BERLIN, None, "domestic", 1900, 0, 0),
    ("half a cent is rounded up", NEW_YORK, None, "listing", 500, 210, 10),
    ("IN, halves are equal where the whole is odd", BANGALORE, None, "intra_state", 1800, 9_999, 1_526),
    ("IN, the same price to another state", BANGALORE, MUMBAI, "inter_state", 1800, 9_999, 1_525),
]


@pytest.mark.parametrize(("seller", "buyer", "treatment", "rate", "price", "tax"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_tax_rate_and_treatment_follow_the_countries_of_seller_and_buyer(
    seller: Party | None, buyer: Party | None, treatment: str, rate: int, price: int, tax: int
) -> None:
    decision = decide_tax(seller=seller, buyer=buyer, rates=RATES, listing_rate_bp=LISTING)
    assert (decision.treatment.value, decision.rate_bp) == (treatment, rate)
    assert tax_of(price, decision.treatment, decision.rate_bp) == tax


@pytest.mark.parametrize("treatment", list(Treatment))
@pytest.mark.parametrize("price", [1, 99, 9_999, 49_900, 12_345_678])
def test_lines_of_an_invoice_add_up_to_its_tax(treatment: Treatment, price: int) -> None:
    rate = 0 if treatment in {Treatment.REVERSE_CHARGE, Treatment.EXPORT} else 1850
    tax = tax_of(price, treatment, rate)
    lines = tax_lines(tax, treatment, rate, "IN")
    assert sum(line.amount_minor for line in lines) == tax
    assert sum(line.rate_percent for line in lines) == rate / 100
    assert 0 <= tax <= price


def test_tax_within_an_indian_state_is_split_into_equal_cgst_and_sgst() -> None:
    lines = tax_lines(tax_of(9_999, "intra_state", 1800), "intra_state", 1800, "IN")
    assert [(line.name, line.rate_percent, line.amount_minor) for line in lines] == [("CGST", 9.0, 763), ("SGST", 9.0, 763)]


@pytest.mark.parametrize(
    ("tax_id", "country", "region", "compact"),
    [
        (" 29aagcb7383j1z4 ", "IN", KARNATAKA, GSTIN),
        (GSTIN, "IN", MAHARASHTRA, None),
        ("29AAGCB7383J1Z5", "IN", KARNATAKA, None),
        ("DE 136 695 976", "DE", "", VAT_DE),
        ("DE136695977", "DE", "", None),
        (VAT_DE, "FR", "", None),
        ("EL 094259216", "GR", "", "EL094259216"),
        ("GB 980 7806 84", "GB", "", "980780684"),
        ("GB 980 7806 85", "GB", "", None),
        ("12-3456789", "US", "", "12-3456789"),
    ],
)
def test_tax_id_is_checked_against_its_country(tax_id: str, country: str, region: str, compact: str | None) -> None:
    assert compact_tax_id(tax_id, country=country, region=region) == compact
