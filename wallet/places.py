"""Countries, the states of India, and the checks of tax ids."""

from django_countries.data import COUNTRIES
from stdnum import get_cc_module
from stdnum.eu import vat
from stdnum.exceptions import ValidationError
from stdnum.in_ import gstin

INDIA = "IN"
# Northern Ireland (XI) counts as a member for goods only, which are not sold here.
EUROPEAN_UNION = frozenset(country.upper() for country in vat.MEMBER_STATES) - {"XI"}
# Greece uses another prefix than its country code.
_VAT_PREFIXES = {"EL": "GR"}
# By the code with which a GSTIN begins. Those of stdnum are private, and some of its names are out of date.
INDIAN_STATES = {
    "01": "Jammu and Kashmir",
    "02": "Himachal Pradesh",
    "03": "Punjab",
    "04": "Chandigarh",
    "05": "Uttarakhand",
    "06": "Haryana",
    "07": "Delhi",
    "08": "Rajasthan",
    "09": "Uttar Pradesh",
    "10": "Bihar",
    "11": "Sikkim",
    "12": "Arunachal Pradesh",
    "13": "Nagaland",
    "14": "Manipur",
    "15": "Mizoram",
    "16": "Tripura",
    "17": "Meghalaya",
    "18": "Assam",
    "19": "West Bengal",
    "20": "Jharkhand",
    "21": "Odisha",
    "22": "Chhattisgarh",
    "23": "Madhya Pradesh",
    "24": "Gujarat",
    "26": "Dadra and Nagar Haveli and Daman and Diu",
    "27": "Maharashtra",
    "29": "Karnataka",
    "30": "Goa",
    "31": "Lakshadweep",
    "32": "Kerala",
    "33": "Tamil Nadu",
    "34": "Puducherry",
    "35": "Andaman and Nicobar Islands",
    "36": "Telangana",
    "37": "Andhra Pradesh",
    "38": "Ladakh",
}


def country_choices() -> list[tuple[str, str]]:
    """Return the codes and names of all countries, by name."""
    return sorted(((code, str(name)) for code, name in COUNTRIES.items()), key=lambda choice: choice[1])


def country_name(country: str) -> str:
    """Return the name of a country by its code."""
    return str(COUNTRIES.get(country, country))


def place_name(country: str, region: str) -> str:
    """Return a place as invoices name it, such as `29-Karnataka` or `Germany`."""
    if country == INDIA and region in INDIAN_STATES:
        return f"{region}-{INDIAN_STATES[region]}"
    return country_name(country)


def compact_tax_id(tax_id: str, *, country: str, region: str) -> str | None:
    """Return a tax id without separators, None if it is not one of the country and region.

    Format and checksum are checked, not whether the number is registered. A country without a known format accepts any.
    """
    try:
        if country == INDIA:
            number: str = gstin.validate(tax_id)
            return number if number[:2] == region else None
        if country in EUROPEAN_UNION:
            number = vat.validate(tax_id)
            return number if _VAT_PREFIXES.get(number[:2], number[:2]) == country else None
        known = get_cc_module(country.lower(), "vat")
        return tax_id if known is None else str(known.validate(tax_id))
    except ValidationError:
        return None
