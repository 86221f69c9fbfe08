"""Credentials of the API: OAuth, signing keys, rate limits and usage counts."""

from . import environment as read

OAUTH2_PROVIDER_APPLICATION_MODEL = "developers.App"
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "developers.AccessToken"
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "developers.RefreshToken"
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "developers.IDToken"
OAUTH2_PROVIDER_GRANT_MODEL = "developers.Grant"
OAUTH2_PROVIDER = {
    # RFC 9700 (best current practice for OAuth security) in full; the library makes each part optional.
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_PKCE_REQUIRED": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "COMPLIANT_BCP_RFC9700_REFRESH_TOKEN": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_SCHEME": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_MATCHING": True,
    # A code sent to a plain http address can be intercepted.
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
    "PKCE_REQUIRED": True,
    "OAUTH2_SERVER_CLASS": "oauthlib.oauth2.WebApplicationServer",
    "SCOPES_BACKEND_CLASS": "developers.oauth.toolkit.GrantedScopes",
    "ACCESS_TOKEN_GENERATOR": "developers.oauth.toolkit.access_token",
    "REFRESH_TOKEN_GENERATOR": "developers.oauth.toolkit.refresh_token",
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
    # A connection that is unused for this long expires.
    "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 24 * 3600,
    "ROTATE_REFRESH_TOKEN": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    # The toolkit's own grace; ours is `REFRESH_GRACE`.
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0,
    # For the hosts in CLIENT_METADATA_HOSTS.
    "CIMD_ENABLED": True,
    "CIMD_METADATA_FETCHER": "developers.oauth.clients.DocumentFetcher",
    "CIMD_REGISTRATION_PERMISSION_CLASSES": ["developers.oauth.clients.ListedHosts"],
}

# Hosts whose clients may register by a client id metadata document; they then wait for a
# review. `.example.com` includes subdomains. Empty: no hosts.
CLIENT_METADATA_HOSTS = read.comma_separated("CLIENT_METADATA_HOSTS")

# Earlier values of SECRET_KEY, still accepted for verifying and decrypting.
SECRET_KEY_FALLBACKS = read.comma_separated("SECRET_KEY_FALLBACKS")
# Concatenated public keys in PEM of former signing keys, whose signatures stay valid.
CERTIFICATE_RETIRED_KEYS = read.retired_keys()

# Calls per minute.
RATE_LIMITS = {
    "api_key": read.integer("RATE_LIMIT_API_KEY", default=60, minimum=1),
    "bearer_app": read.integer("RATE_LIMIT_BEARER_APP", default=120, minimum=1),
    "bearer_user": read.integer("RATE_LIMIT_BEARER_USER", default=300, minimum=1),
    # For each address that is not signed in: of the API and the MCP server, then of the storefront.
    "anonymous": read.integer("RATE_LIMIT_ANONYMOUS", default=300, minimum=1),
    "browsing": read.integer("RATE_LIMIT_BROWSING", default=600, minimum=1),
    "failed_credentials": read.integer("RATE_LIMIT_FAILED_CREDENTIALS", default=30, minimum=1),
    "leak_reports": read.integer("RATE_LIMIT_LEAK_REPORTS", default=30, minimum=1),
    "oauth_failures": read.integer("RATE_LIMIT_OAUTH_FAILURES", default=60, minimum=1),
    "oauth_client": read.integer("RATE_LIMIT_OAUTH_CLIENT", default=600, minimum=1),
    "client_documents": read.integer("RATE_LIMIT_CLIENT_DOCUMENTS", default=5, minimum=1),
    "discount_codes": read.integer("RATE_LIMIT_DISCOUNT_CODES", default=10, minimum=1),
    "live_checks": read.integer("RATE_LIMIT_LIVE_CHECKS", default=300, minimum=1),
}
# Calls are counted in memory and saved this often; a killed process loses the counts since. 0: not automatically.
USAGE_FLUSH_SECONDS = read.integer("USAGE_FLUSH_SECONDS", default=10)
