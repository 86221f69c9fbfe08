"""Limits of the library and of download links."""

LIBRARY_LIMIT = 100
LIBRARY_LIMIT_DEFAULT = 25

DOWNLOAD_LINK_SECONDS = 15 * 60
PRESIGNED_LINK_SECONDS = 30

# The most favourites of a user.
MAX_FAVOURITES = 500

# Bits of a status list: the fewest that the W3C's recommendation permits, 16 KiB before compression.
STATUS_LIST_LENGTH = 131_072
STATUS_LIST_SECONDS = 60
# How long a claim link works.
CLAIM_LINK_DAYS = 14
# The least time between two claim links for the same licence.
MINUTES_BETWEEN_CLAIM_LINKS = 60
# The most claim links that are sent for one buyer in a day.
CLAIM_LINKS_A_DAY = 50
# The most claim links that are sent again to one address in a day.
CLAIM_LINKS_A_DAY_TO_ONE_ADDRESS = 3
# The most skills of an index for agents, the largest archive of a skill, and how long a link to owned ones works.
MAX_AGENT_SKILLS = 100
AGENT_SKILL_BYTES = 20 * 2**20
AGENT_SKILLS_TOKEN_SECONDS = 15 * 60
