"""Limits of money, quotes, payouts and idempotency keys."""

# The most that one credit puts into a wallet, and the most that a JSON number holds exactly.
CREDIT_MINOR = 10_000_000_000
BALANCE_MINOR = 2**53 - 1
HISTORY_LIMIT = 100
PAYOUT_RUN_CHARS = 64
# Where money of a wallet is paid to, and what names the payment outside.
PAYMENT_DETAILS_CHARS = 500
PAYMENT_REFERENCE_CHARS = 100
# How often a wallet can be asked to be paid out, each with mails and a row to decide on; and how long after a payment, which may
# come back, it is known where it went.
WALLET_PAYOUTS_A_DAY = 10
PAYMENT_DETAILS_DAYS = 90
# The name of a bank or of a service from which payments come.
CREDIT_SOURCE_CHARS = 40
HISTORY_LIMIT_DEFAULT = 25
QUOTE_SECONDS = 10 * 60
# What one user may have promised at once.
OPEN_QUOTES = 50
IDEMPOTENCY_KEY_CHARS = 255
IDEMPOTENCY_HOURS = 24
