"""Bank accounts of vendors: IBAN and BIC, or account and routing number, for US dollars; account number and IFSC for rupees."""

import re
from dataclasses import dataclass

from stdnum import bic, iban
from stdnum.exceptions import ValidationError
from stdnum.us import rtn
from text_unidecode import unidecode

from marketplace.core import texts
from marketplace.core.money import Currency

# The longest name that a SEPA transfer carries.
HOLDER_CHARS = 70
NUMBER_CHARS = 60
# Reserve Bank of India: four letters of the bank, a zero, six characters of the branch.
_IFSC = re.compile(r"[A-Z]{4}0[A-Z0-9]{6}")
_INDIAN_NUMBER = re.compile(r"\d{9,18}")
# Nacha: up to 17 characters, in practice digits.
_AMERICAN_NUMBER = re.compile(r"\d{4,17}")
# The characters of the SEPA schemes.
_NOT_IN_SEPA = re.compile(r"[^A-Za-z0-9/\-?:().,'+ ]")
# European Payments Council, EPC409-09: the countries and territories of the SEPA schemes by their IBAN's country code.
_SEPA_AREA = "AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS SE SI SK SM VA"


@dataclass(frozen=True)
class BankAccount:
    """A bank account.

    Args:
        holder: The holder's name.
        number: The IBAN, or the number of an account in India or the United States.
        bank: The BIC, the IFSC of the branch, or the ABA routing number.
    """

    holder: str
    number: str
    bank: str

    @property
    def in_sepa_area(self) -> bool:
        """Whether SEPA transfers reach it."""
        return self.number[:2] in _SEPA_AREA.split()

    def label(self) -> str:
        """Return the kind of the account and its last four characters."""
        return f"{'IBAN' if self.number[:2].isalpha() else 'Account'} ending in {self.number[-4:]}"


def checked_account(*, currency: str, holder: str, number: str, bank: str) -> BankAccount:
    """Return an account in its compact form, for payouts in this currency.

    Raises:
        InvalidInput: the holder, the number or the bank's code is not valid.
    """
    holder = texts.clean_line(holder, "holder", maximum=HOLDER_CHARS)
    number = texts.clean_line(number, "number", maximum=NUMBER_CHARS)
    bank = texts.clean_line(bank, "bank", maximum=NUMBER_CHARS)
    if currency == Currency.INR:
        return _indian_account(holder, _compact(number), bank.upper())
    if not re.search(r"[A-Za-z0-9]", sepa_text(holder)):
        raise texts.invalid("holder", "invalid", "Enter the name in letters, as the bank knows it.")
    if currency == Currency.USD and _compact(bank).isdecimal():
        return _american_account(holder, _compact(number), _compact(bank))
    try:
        number = iban.validate(number)
    except ValidationError as error:
        raise texts.invalid("number", "invalid", "This is not a valid IBAN. Check its digits.") from error
    try:
        bank = bic.validate(bank)
    except ValidationError as error:
        raise texts.invalid("bank", "invalid", "This is not a valid BIC. It has 8 or 11 characters, such as DEUTDEFF.") from error
    return BankAccount(holder, number, bank)


def sepa_text(text: str) -> str:
    """Return a text in the Latin characters of SEPA transfers, shortened to what they carry; it may be empty."""
    return _NOT_IN_SEPA.sub(" ", unidecode(text)).strip()[:HOLDER_CHARS].strip()


def _compact(text: str) -> str:
    return re.sub(r"[\s-]", "", text)


def _american_account(holder: str, number: str, bank: str) -> BankAccount:
    if not (number.isascii() and _AMERICAN_NUMBER.fullmatch(number)):
        raise texts.invalid("number", "invalid", "An account number in the United States has 4 to 17 digits. Use a BIC with an IBAN.")
    try:
        return BankAccount(holder, number, rtn.validate(bank))
    except ValidationError as error:
        raise texts.invalid("bank", "invalid", "This is not a valid routing number. It has 9 digits, such as 021000021.") from error


def _indian_account(holder: str, number: str, bank: str) -> BankAccount:
    if not (number.isascii() and _INDIAN_NUMBER.fullmatch(number)):
        raise texts.invalid("number", "invalid", "An account number has 9 to 18 digits.")
    if not _IFSC.fullmatch(bank):
        raise texts.invalid("bank", "invalid", "This is not a valid IFSC. It has 11 characters, such as SBIN0000300.")
    return BankAccount(holder, number, bank)
