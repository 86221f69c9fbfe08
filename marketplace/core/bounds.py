"""Limits of requests and texts; apps have further ones in their own `bounds`."""

KIB = 2**10
MIB = 2**20
GIB = 2**30

JSON_BODY_BYTES = MIB
MAX_JSON_DEPTH = 32
# In all objects and lists of a body together; operations accept a few hundred.
MAX_JSON_VALUES = 10_000
# Path and query together, one header and all headers together, as in nginx; and a form, in which percent-encoding takes up to
# twelve bytes for a character.
ADDRESS_BYTES = 8 * KIB
HEADER_BYTES = 8 * KIB
HEADERS_BYTES = 32 * KIB
FORM_BYTES = 512 * KIB
# A body that takes longer than this time must arrive at this average speed at least.
BODY_SECONDS = 20
BODY_BYTES_A_SECOND = 32 * KIB
# The most errors in a problem document, so that it is not longer than the request.
MAX_FIELD_ERRORS = 100
# The most items of a list with errors, of which each may have several.
MAX_ITEM_ERRORS = 10
# The most unknown fields or parameters in a problem document.
MAX_UNKNOWN_NAMES = 10
SLUG_CHARS = 80
LONG_TEXT_BYTES = 64 * KIB
URL_CHARS = 2000
NAME_CHARS = 120
EMAIL_CHARS = 254
REASON_CHARS = 2000

# 999,999.99 in minor units.
MAX_PRICE_MINOR = 99_999_999
# 100 % in basis points.
WHOLE_BP = 10_000

# Size and ETag, or size, time and inode, of a stored object.
OBJECT_FINGERPRINT_CHARS = 100
ADMIN_SEARCH_CHARS = 200
MAX_PAGE = 1_000_000
# Length of an Idempotency-Key, and how long its response is kept.
IDEMPOTENCY_KEY_CHARS = 255
IDEMPOTENCY_HOURS = 24
