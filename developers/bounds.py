"""Limits of applications, credentials, OAuth clients and webhooks."""

from marketplace.core.bounds import KIB

# Maximum numbers per developer, user or app.
MAX_APPS = 50
MAX_ACTIVE_KEYS = 20
MAX_ACTIVE_MCP_TOKENS = 20
MAX_TOKENS_WITHOUT_APP = 50
# First-party tokens; the oldest is deleted when a new one is issued.
MAX_FIRST_PARTY_TOKENS = 20
MAX_REDIRECT_URIS = 10
MAX_WEBHOOK_ENDPOINTS = 5
# For how many hours the previous secret of a webhook may stay valid.
SECRET_OVERLAP_HOURS = 7 * 24
# Events, or deliveries to an endpoint, in a response.
EVENTS_DEFAULT = 25
MAX_EVENTS = 100
CREDENTIAL_NAME_CHARS = 80
# Maximum number of credentials in a leak report, and length of each.
MAX_LEAKED_CREDENTIALS = 100
SECRET_CHARS = 200
# Maximum number of mails about leaks to one user.
LEAK_MAILS_A_DAY = 5
# Maximum size of a request to the OAuth endpoints, far above what the protocol needs.
OAUTH_QUERY_BYTES = 8 * KIB
OAUTH_BODY_BYTES = 64 * KIB
MAX_OAUTH_PARAMETERS = 50
# How many new clients with a metadata document may wait for a review, per host and in all.
MAX_WAITING_CLIENTS_OF_HOST = 5
MAX_WAITING_CLIENTS = 50
# The highest rate limit that staff can give a key.
MAX_CALLS_PER_MINUTE = 100_000
# Maximum amount of a spending limit, and number of its categories.
MAX_SPENDING_LIMIT_MINOR = 10_000_000_000
MAX_SPENDING_CATEGORIES = 20
