"""OAuth 2.1 for approved apps: authorization code with PKCE, rotating refresh tokens, revocation, metadata."""
