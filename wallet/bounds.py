"""Limits of money, quotes and payouts."""

from datetime import timedelta

from catalog.bounds import TITLE_CHARS, VERSION_CHARS
from marketplace.core.bounds import NAME_CHARS

# The maximum of one credit, and the largest balance that a JSON number represents exactly.
MAX_CREDIT_MINOR = 10_000_000_000
MAX_BALANCE_MINOR = 2**53 - 1
HISTORY_LIMIT = 100
HISTORY_LIMIT_DEFAULT = 25
PAYOUT_RUN_CHARS = 64
# Bank details of a wallet payout, and the reference of a payment.
BANK_DETAILS_CHARS = 500
PAYMENT_REFERENCE_CHARS = 100
# The most payout requests of a wallet in a day, because each needs mails and a decision; and the days after a payment, which may
# be returned, until its bank details are erased.
WALLET_PAYOUTS_A_DAY = 10
BANK_DETAILS_DAYS = 90
BANK_DETAILS_AGE = timedelta(days=BANK_DETAILS_DAYS)
# The name of a bank or of a service from which payments come.
CREDIT_SOURCE_CHARS = 40
QUOTE_MINUTES = 10
# The most open quotes of a user.
MAX_OPEN_QUOTES = 50
# How long a payment page is open; providers require at least half an hour.
TOP_UP_MINUTES = 35
# The most open payment pages of a user, apart from those of apps; and the most that each app may open for a user.
MAX_OPEN_TOP_UPS = 10
MAX_OPEN_TOP_UPS_OF_APP = 3
# The smallest top-up in either currency.
MIN_TOP_UP_MINOR = 100
# A quote that waits for a top-up is valid for longer: up to this many minutes after it was made.
WAITING_QUOTE_MINUTES = 60
# How long a purchase above a spending limit waits for the wallet's owner, the longest reason that an app may give, and how many
# such purchases an app or a token may ask for in this time.
APPROVAL_HOURS = 24
APPROVAL_REASON_CHARS = 300
APPROVALS_A_DAY = 20
# The largest event of a payment provider, and the longest id that providers give.
PROVIDER_EVENT_BYTES = 256 * 2**10
PROVIDER_ID_CHARS = 255
# Events that belong to none of our payments are deleted after this many days.
PROVIDER_EVENT_DAYS = 30
# Parts of an address, and a tax id.
BILLING_LINE_CHARS = 200
POSTAL_CODE_CHARS = 16
REGION_CHARS = 60
TAX_ID_CHARS = 30
# The number of an invoice, as GST allows; its pattern, the code of the service, the buyer's name or address and the item.
INVOICE_NUMBER_CHARS = 16
NUMBER_PATTERN_CHARS = 40
SERVICE_CODE_CHARS = 10
BUYER_NAME_CHARS = 254
# A title, a version, the names of two licences, and what is between them.
INVOICE_LINE_CHARS = TITLE_CHARS + VERSION_CHARS + 2 * NAME_CHARS + 48
# The consent to delivery at the checkout, and its version.
DELIVERY_CONSENT_CHARS = 500
DELIVERY_CONSENT_VERSION_CHARS = 16
# The most downloads that the evidence of an order lists.
MAX_EVIDENCE_DOWNLOADS = 1000
