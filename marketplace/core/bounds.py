"""Limits of every request and of texts (reference section 8); each app has a `bounds` of its own."""

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
SLUG_CHARS = 80
LONG_TEXT_BYTES = 64 * KIB
URL_CHARS = 2000
NAME_CHARS = 120
REASON_CHARS = 2000

# 999,999.99 in minor units.
PRICE_MINOR = 99_999_999
# 100 % in basis points.
WHOLE_BP = 10_000

# How many files one vendor sends to a process at a time.
UPLOADS_AT_ONCE = 2
FINGERPRINT_CHARS = 100
ADMIN_SEARCH_CHARS = 200
PAGE = 1_000_000
