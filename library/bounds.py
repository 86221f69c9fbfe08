"""Limits of the library and of download links."""

LIBRARY_LIMIT = 100
LIBRARY_LIMIT_DEFAULT = 25

DOWNLOAD_LINK_SECONDS = 15 * 60
PRESIGNED_LINK_SECONDS = 30

# The most favourites of a user.
FAVOURITES = 500

# The most skills of an index for agents, the largest archive of a skill, and how long a link to owned ones works.
AGENT_SKILLS = 100
AGENT_SKILL_BYTES = 20 * 2**20
AGENT_SKILLS_TOKEN_SECONDS = 15 * 60
