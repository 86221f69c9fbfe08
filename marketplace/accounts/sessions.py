"""The session store: Django's database sessions, with malformed keys refused before the query."""

from django.contrib.sessions.backends import db

# Django's own lower bound.
MINIMUM_CHARS = 8


class SessionStore(db.SessionStore):
    """Ignores malformed session keys: a quoted cookie can contain NUL, which PostgreSQL refuses."""

    def _validate_session_key(self, key: str) -> bool:
        return len(key or "") >= MINIMUM_CHARS and key.isascii() and key.isalnum()
