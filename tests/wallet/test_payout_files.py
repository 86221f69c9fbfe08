"""The file for the bank: who gets how much, by the rules of SEPA; nothing that a spreadsheet takes for a formula; and bank accounts nowhere else."""

import csv
import io
from decimal import Decimal
from importlib.resources import as_file, files
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema

from marketplace.core.errors import InvalidInput, InvalidTransition
from tests.callers import said
from tests.shop import bought, funded, on_sale
from vendors.models import PayoutDetails, VendorProfile
from wallet.models import PayoutBatch
from wallet.payout_files import bank_file
from wallet.services.vendor_payouts import bounce_payout, cancel_batch, cancel_payout, export_batch, mark_payout_paid
from wallet.spreadsheets import escape_formula

from .payees import BIC, IBAN, account_of, changed_bank_account, end_waiting_time, exported_payout, payee, payout_of, skipped

pytestmark = [pytest.mark.django_db, pytest.mark.database]
RATE = Decimal("0.9213")
PAYER = {"PAYOUT_NAME": "Märkte & Söhne GmbH", "PAYOUT_IBAN": "NL91 ABNA 0417 1643 00", "PAYOUT_BIC": "ABNANL2A"}
NAMESPACE = {"p": "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"}


@pytest.fixture(autouse=True)
def _payer(settings: Any) -> None:
    for name, value in PAYER.items():
        setattr(settings, name, value)


def dollars(profile: VendorProfile) -> Any:
    """Sell something for 10.00 USD, of which 8.00 are the vendor's."""
    bought(on_sale(store=profile.store), funded(usd=1000), currency="USD")
    return account_of(profile, "USD")


def texts(document: ET.Element, path: str) -> list[str | None]:
    return [element.text for element in document.findall(f".//p:{path.replace('/', '/p:')}", NAMESPACE)]


@pytest.mark.parametrize(
    ("number", "bank", "ending"),
    [("00123456789", "021000021", "Account ending in 6789"), ("BR1800360305000010009795493C1", "BRASBRRJ", "IBAN ending in 93C1")],
    ids=["account in the United States", "IBAN outside of the SEPA area"],
)
def test_account_outside_of_sepa_is_in_the_csv_and_left_out_of_a_run_in_euros(number: str, bank: str, ending: str) -> None:
    vendor = payee()
    assert changed_bank_account(vendor, "USD", number=number, bank=bank).label == ending
    end_waiting_time(vendor)
    account = dollars(vendor)
    assert said("payout", "prepare", "--run=in-euros", "--currency=USD", f"--euro-rate={RATE}", "--dry-run").splitlines() == [
        f"not paid: {vendor.store.slug}, 8.00 USD, the bank account is outside of the SEPA area",
        "Run in-euros: 0 payouts of 0.00 USD; not paid: 8.00 USD.",
    ]
    assert skipped(account, "in-euros", euro_rate=RATE).reason == "outside_sepa"
    cancel_batch(batch=PayoutBatch.objects.get(), reason="test", actor=None)
    payout = exported_payout(account, "in-dollars")
    row = next(csv.DictReader(io.StringIO(bank_file(batch=payout.batch).content.decode())))
    assert (row["account"], row["bankCode"], row["currency"], row["amount"]) == (number, bank, "USD", "8.00")


def test_sepa_file_is_valid_and_names_each_transfer_once() -> None:
    first, second = payee(), payee()
    changed_bank_account(second, "USD", holder="Åsa <Ünal> & 株式会社", number="fr14 2004 1010 0505 0001 3m02 606", bank="psstfrppmon")
    end_waiting_time(second)
    payouts = [payout_of(dollars(vendor), "2026-11", euro_rate=RATE) for vendor in (first, second)]
    batch = export_batch(batch=payouts[0].batch, actor=None)
    file = bank_file(batch=batch)
    assert (file.name, file.content_type) == ("payouts-2026-11-USD.xml", "application/xml")
    with as_file(files("sepaxml") / "schemas" / "pain.001.001.09.xsd") as path:
        xmlschema.XMLSchema(str(path)).validate(file.content.decode())
    document = ET.fromstring(file.content)  # noqa: S314 - our own file
    # 8.00 USD at 0.9213, half up.
    assert texts(document, "InstdAmt") == ["7.37", "7.37"]
    assert {element.get("Ccy") for element in document.iter(f"{{{NAMESPACE['p']}}}InstdAmt")} == {"EUR"}
    assert texts(document, "CtrlSum") == ["14.74", "14.74"]
    assert texts(document, "NbOfTxs") == ["2", "2"]
    assert texts(document, "CdtrAcct/Id/IBAN") == [IBAN, "FR1420041010050500013M02606"]
    assert texts(document, "CdtrAgt/FinInstnId/BICFI") == [BIC, "PSSTFRPPMON"]
    assert texts(document, "Cdtr/Nm")[0] == "Asha Rao"
    assert texts(document, "DbtrAcct/Id/IBAN") == ["NL91ABNA0417164300"]
    assert texts(document, "Dbtr/Nm") == ["Markte   Sohne GmbH"]
    assert texts(document, "SvcLvl/Cd") == ["SEPA"]
    assert texts(document, "EndToEndId") == [payout.pk.hex for payout in payouts]
    assert texts(document, "MsgId") == [batch.pk.hex]
    # Only the characters that every bank of the schemes takes.
    allowed = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-?:().,'+ ")
    assert {char for name in [*texts(document, "Nm"), *texts(document, "Ustrd")] for char in name or "&"} <= allowed


@pytest.mark.parametrize("terms", [{}, {"euro_rate": RATE}])
def test_bank_file_made_again_excludes_bounced_payouts(terms: dict[str, Any]) -> None:
    first, second = payee(), payee()
    payouts = [payout_of(dollars(vendor), **terms) for vendor in (first, second)]
    with pytest.raises(InvalidTransition):
        bank_file(batch=payouts[0].batch)
    batch = export_batch(batch=payouts[0].batch, actor=None)
    bounce_payout(payout=payouts[0], reason="Closed.", actor=None)
    mark_payout_paid(payout=payouts[1], actor=None)
    content = bank_file(batch=batch).content.decode()
    assert [vendor.store.slug in content for vendor in (first, second)] == [False, True]
    bounce_payout(payout=payouts[1], reason="Closed.", actor=None)
    with pytest.raises(InvalidTransition):
        bank_file(batch=batch)


def test_amount_that_rounds_to_zero_euros_is_not_paid() -> None:
    skipped(dollars(payee()), euro_rate=Decimal("0.000001"))


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [("PAYOUT_NAME", "", InvalidTransition), ("PAYOUT_IBAN", "NL92ABNA0417164300", InvalidInput), ("PAYOUT_BIC", "x", InvalidInput)],
)
def test_bank_file_without_a_valid_account_of_the_operator_is_refused(
    name: str, value: str, problem: type[Exception], settings: Any
) -> None:
    payout = exported_payout(dollars(payee()), euro_rate=RATE)
    setattr(settings, name, value)
    with pytest.raises(problem):
        bank_file(batch=payout.batch)


def test_bank_file_of_other_currencies_is_csv_with_escaped_formulas() -> None:
    vendor = payee()
    changed_bank_account(vendor, "USD", holder='=HYPERLINK("http://x","y")')
    end_waiting_time(vendor)
    payout = exported_payout(dollars(vendor))
    file = bank_file(batch=payout.batch)
    assert file.name == "payouts-a-USD.csv"
    header, line = csv.reader(io.StringIO(file.content.decode()))
    assert dict(zip(header, line, strict=True)) == {
        "payout": str(payout.pk),
        "run": "a",
        "store": vendor.store.slug,
        "holder": '\'=HYPERLINK("http://x","y")',
        "account": IBAN,
        "bankCode": BIC,
        "currency": "USD",
        "amount": "8.00",
    }
    for begin in "=+-@\t\r":
        assert escape_formula(f"{begin}1") == f"'{begin}1"


def test_batch_that_is_not_exported_has_no_file_and_a_cancelled_payout_is_in_none() -> None:
    first, second = payee(), payee()
    payouts = [payout_of(dollars(vendor)) for vendor in (first, second)]
    with pytest.raises(InvalidTransition):
        bank_file(batch=payouts[0].batch)
    cancel_payout(payout=payouts[0], reason="test", actor=None)
    batch = export_batch(batch=payouts[0].batch, actor=None)
    assert first.store.slug.encode() not in bank_file(batch=batch).content


def test_bank_account_erased_after_its_payout_was_paid_leaves_the_others_in_the_file() -> None:
    first, second = payee(), payee()
    payouts = [payout_of(dollars(vendor)) for vendor in (first, second)]
    batch = export_batch(batch=payouts[0].batch, actor=None)
    mark_payout_paid(payout=payouts[0], actor=None)
    PayoutDetails.objects.filter(profile=first).update(encrypted="", label="")
    lines = csv.DictReader(io.StringIO(bank_file(batch=batch).content.decode()))
    assert [line["payout"] for line in lines] == [str(payouts[1].pk)]


@pytest.mark.parametrize("encrypted", ["", "not a token"])
def test_bank_file_with_an_account_that_cannot_be_decrypted_is_refused(encrypted: str) -> None:
    payout = exported_payout(dollars(payee()))
    PayoutDetails.objects.update(encrypted=encrypted)
    with pytest.raises(InvalidTransition):
        bank_file(batch=payout.batch)
