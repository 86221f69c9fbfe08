"""Every limit of the service in one place (reference section 8)."""

KIB = 2**10
MIB = 2**20
GIB = 2**30

JSON_BODY_BYTES = MIB
JSON_DEPTH = 32
# In all objects and lists of a body together; what an operation takes is a few hundred.
JSON_VALUES = 10_000
# The path and the query of an address, one header and all headers together, as nginx takes them; and a form, in which a text is up to
# nine times as long as its characters.
ADDRESS_BYTES = 8 * KIB
HEADER_BYTES = 8 * KIB
HEADERS_BYTES = 32 * KIB
FORM_BYTES = 512 * KIB
# How long a body may take to arrive, and how fast one must be that takes longer.
BODY_SECONDS = 20
BODY_BYTES_A_SECOND = 32 * KIB
# As many as one problem document names: a body of nothing but mistakes must not come back longer than it went.
FIELD_ERRORS = 100
# Of the items of one list: each may have many mistakes of its own.
ITEM_ERRORS = 10
# Of unknown fields or parameters.
UNKNOWN_NAMES = 10

TITLE_CHARS = 120
SLUG_CHARS = 80
SHORT_DESCRIPTION_CHARS = 200
LONG_TEXT_BYTES = 64 * KIB
VERSION_CHARS = 32
FILE_TYPE_CHARS = 200
PLATFORMS_CHARS = 200
URL_CHARS = 2000
TAGS = 20
TAG_CHARS = 40
NAME_CHARS = 120
REASON_CHARS = 2000

# What one developer or user may have alive at once.
APPS = 50
LIVE_KEYS = 20
LIVE_TOKENS = 50
# Of the short ones that pages get: the oldest gives way.
PAGE_TOKENS = 20
REDIRECT_URIS = 10
WEBHOOK_ENDPOINTS = 5
CREDENTIAL_NAME_CHARS = 80
# What one report of leaked credentials may name, and how long each may be.
LEAKED_CREDENTIALS = 100
SECRET_CHARS = 200
# How many mails about leaks one user gets.
LEAK_MAILS_A_DAY = 5
# What a client may send to the endpoints of OAuth: no request of the protocol comes near.
OAUTH_QUERY_BYTES = 8 * KIB
OAUTH_BODY_BYTES = 64 * KIB
OAUTH_PARAMETERS = 50
# Clients that describe themselves: their addresses and documents, and how many may wait for a review, of one host and of all.
WAITING_CLIENTS_OF_HOST = 5
WAITING_CLIENTS = 50
# The highest rate limit that an admin can give a key.
CALLS_PER_MINUTE = 100_000

# 999,999.99 in minor units.
PRICE_MINOR = 99_999_999
# The most that one credit puts into a wallet, and the most that a JSON number holds exactly.
CREDIT_MINOR = 10_000_000_000
BALANCE_MINOR = 2**53 - 1
# The highest figure of a spending limit, and how many categories it may name.
SPENDING_LIMIT_MINOR = CREDIT_MINOR
SPENDING_CATEGORIES = 20
# 100 % in basis points.
WHOLE_BP = 10_000

# How many files one vendor sends to a process at a time.
UPLOADS_AT_ONCE = 2
DELIVERABLE_BYTES = 5 * GIB
AUDIO_BYTES = 20 * MIB
IMAGE_BYTES = 20 * MIB
FONT_BYTES = 20 * MIB
FILE_NAME_CHARS = 200
FINGERPRINT_CHARS = 100
# Boundaries, part headers and small form fields around an uploaded file.
MULTIPART_OVERHEAD_BYTES = 64 * KIB
GALLERY_SLOTS = 5
# The width of a card's picture: smaller ones are enlarged, and blurred, wherever they are shown.
SHARP_PICTURE_PIXELS = 640
ALT_TEXT_CHARS = 250

BROWSE_LIMIT = 50
BROWSE_LIMIT_DEFAULT = 20
SEARCH_LIMIT = 50
SEARCH_LIMIT_DEFAULT = 20
SEARCH_QUERY_CHARS = 200
ADMIN_SEARCH_CHARS = 200
LIBRARY_LIMIT = 100
LIBRARY_LIMIT_DEFAULT = 25
VENDOR_LIMIT = 100
VENDOR_LIMIT_DEFAULT = 25
HISTORY_LIMIT = 100
PAYOUT_RUN_CHARS = 64
# Where money of a wallet is paid to, and what names the payment outside.
PAYMENT_DETAILS_CHARS = 500
PAYMENT_REFERENCE_CHARS = 100
# How often a wallet can be asked to be paid out, each with mails and a row to decide on; and how long after a payment, which may
# come back, it is known where it went.
WITHDRAWALS_A_DAY = 10
PAYMENT_DETAILS_DAYS = 90
# The name of a bank or of a service from which payments come.
CREDIT_SOURCE_CHARS = 40
HISTORY_LIMIT_DEFAULT = 25
PAGE = 1_000_000

DOWNLOAD_LINK_SECONDS = 15 * 60
PRESIGNED_LINK_SECONDS = 30
QUOTE_SECONDS = 10 * 60
# What one user may have promised at once.
OPEN_QUOTES = 50
IDEMPOTENCY_KEY_CHARS = 255
IDEMPOTENCY_HOURS = 24
