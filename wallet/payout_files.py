"""The file of a payout batch for the bank: SEPA credit transfers (ISO 20022, pain.001.001.09) in EUR, CSV in other currencies."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap

from django.conf import settings
from django.db.models import QuerySet
from sepaxml import SepaTransfer

from marketplace.core.encryption import DecryptionFailed
from marketplace.core.errors import InvalidTransition
from marketplace.core.money import Currency
from vendors.bank_accounts import BankAccount, checked_account, sepa_text
from vendors.services.payout_details import bank_account_of

from .models import PayoutBatch, VendorPayout
from .models.vendor_payouts import BatchStatus, PayoutStatus
from .selectors import vendor_payouts
from .spreadsheets import amount_text, csv_lines, escape_formula, store_slug_of

HEADER = ("payout", "run", "store", "holder", "account", "bankCode", "currency", "amount")
_SCHEMA = "pain.001.001.09"


@dataclass(frozen=True)
class BankFile:
    """The file for the bank, with vendors' bank accounts."""

    name: str
    content_type: str
    content: bytes


def bank_file(*, batch: PayoutBatch) -> BankFile:
    """Return the file of an exported batch, with the same message id each time, without payouts that bounced since.

    A payout whose bank account was erased after it was paid is left out too.

    Raises:
        InvalidTransition: the batch is not exported, no payout of it is left, a bank account that is not paid yet was erased or cannot be
            decrypted, or the account that pays is not set.
    """
    if batch.status != BatchStatus.EXPORTED:
        raise InvalidTransition("Export the batch first.")
    try:
        lines = [(payout, bank_account_of(details=payout.details)) for payout in payouts_in_file(batch)]
    except DecryptionFailed as error:
        raise InvalidTransition("A bank account of it was erased, or its key is gone.") from error
    if not lines:
        raise InvalidTransition(
            "No payout of this batch is left: each bounced or was cancelled, or its bank account was erased after it was paid."
        )
    name = f"payouts-{batch.run}-{batch.currency}"
    if batch.transfer_currency == Currency.EUR:
        return BankFile(f"{name}.xml", "application/xml", _sepa(batch, lines))
    return BankFile(f"{name}.csv", "text/csv; charset=utf-8", _csv(batch, lines))


def payouts_in_file(batch: PayoutBatch) -> QuerySet[VendorPayout]:
    """Return the payouts that the bank is to make, oldest first.

    The amount of one that bounced is the vendor's again. A vendor who was paid may have deleted the account, and its bank account with it.
    """
    made = vendor_payouts().filter(batch=batch, status__in=(PayoutStatus.EXPORTED, PayoutStatus.PAID))
    return made.exclude(status=PayoutStatus.PAID, details__encrypted="").order_by("id")


def paying_account() -> BankAccount:
    """Return the account from which SEPA transfers are made.

    Raises:
        InvalidTransition: it is not set.
        InvalidInput: it is not valid.
    """
    if not (settings.PAYOUT_NAME and settings.PAYOUT_IBAN and settings.PAYOUT_BIC):
        raise InvalidTransition("Set PAYOUT_NAME, PAYOUT_IBAN and PAYOUT_BIC to the account that pays.")
    return checked_account(currency=Currency.EUR, holder=settings.PAYOUT_NAME, number=settings.PAYOUT_IBAN, bank=settings.PAYOUT_BIC)


def _sepa(batch: PayoutBatch, lines: Sequence[tuple[VendorPayout, BankAccount]]) -> bytes:
    payer = paying_account()
    config = {"name": sepa_text(payer.holder), "IBAN": payer.number, "BIC": payer.bank, "batch": True, "currency": batch.transfer_currency}
    document = SepaTransfer(config, schema=_SCHEMA, clean=False)
    # The same each time, so that the bank recognises a file that it got before; the library would choose a random one.
    document._xml.find("*/GrpHdr/MsgId").text = batch.pk.hex
    for payout, bank_account in lines:
        document.add_payment(
            {
                "name": sepa_text(bank_account.holder),
                "IBAN": bank_account.number,
                "BIC": bank_account.bank,
                "amount": batch.transfer_minor(payout.amount_minor),
                "execution_date": batch.exported_at.date() if batch.exported_at else None,
                "description": sepa_text(f"Payout {batch.run} {store_slug_of(payout.account)}"),
                "endtoend_id": payout.pk.hex,
            }
        )
    content: bytes = document.export(validate=True)
    return content


def _csv(batch: PayoutBatch, lines: Sequence[tuple[VendorPayout, BankAccount]]) -> bytes:
    def row(payout: VendorPayout, bank_account: BankAccount) -> tuple[object, ...]:
        texts = map(escape_formula, (batch.run, store_slug_of(payout.account), bank_account.holder, bank_account.number, bank_account.bank))
        return (payout.pk, *texts, batch.transfer_currency, amount_text(batch.transfer_minor(payout.amount_minor)))

    return "".join(csv_lines(HEADER, starmap(row, lines))).encode()
