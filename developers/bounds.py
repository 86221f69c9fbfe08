"""Limits of applications, credentials, OAuth clients and webhooks."""

from marketplace.core.bounds import KIB

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
# The highest figure of a spending limit, and how many categories it may name.
SPENDING_LIMIT_MINOR = 10_000_000_000
SPENDING_CATEGORIES = 20
