"""Limits of listings, their files, browsing and search."""

from marketplace.core.bounds import GIB

TITLE_CHARS = 120
SHORT_DESCRIPTION_CHARS = 200
VERSION_CHARS = 32
VERSION_OR_ID_CHARS = 36
FILE_TYPE_CHARS = 200
PLATFORMS_CHARS = 200
MAX_TAGS = 20
TAG_CHARS = 40
# The licence tiers that a request can permit for a listing.
MAX_LICENSES = 20
DELIVERABLE_BYTES = 5 * GIB
FILE_NAME_CHARS = 200
GALLERY_SLOTS = 5
ALT_TEXT_CHARS = 250
AI_PARTS_CHARS = 500
# Discounts. `MAX_DISCOUNT_DAYS` is how long one lasts, and how early it is planned; `MAX_DISCOUNTS` is how many of a listing have not ended.
MAX_DISCOUNT_PERCENT = 90
DISCOUNT_CODE_CHARS = 24
MIN_DISCOUNT_CODE_CHARS = 4
MAX_DISCOUNT_DAYS = 365
MAX_DISCOUNTS = 10
ENDED_DISCOUNT_DAYS = 90

# For licence terms: the text, a passage of it about one use, and the largest quantity of a use.
TERMS_CHARS = 30_000
CLAUSE_CHARS = 1_000
MAX_USE_QUANTITY = 1_000_000_000

BROWSE_LIMIT = 50
BROWSE_LIMIT_DEFAULT = 20
SEARCH_LIMIT = 50
SEARCH_LIMIT_DEFAULT = 20
SEARCH_QUERY_CHARS = 200
# Far more than a position of integers and an id takes, in base64.
CURSOR_CHARS = 1000
