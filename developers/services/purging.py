"""Which expired codes and tokens can be deleted.

Used codes and refresh tokens are kept while a refresh token of their family is live, to detect their reuse. Personal tokens
are kept as their users' own record.
"""

from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from oauth2_provider.settings import oauth2_settings

from ..models import AccessToken, FirstPartyToken, Grant, RefreshToken
from ..models.credentials import TokenKind

# How long expired tokens and codes are kept.
KEPT = timedelta(days=30)
CODES_KEPT = timedelta(days=1)


def ended_codes() -> QuerySet[Grant]:
    """Return the expired codes, except those whose reuse would still revoke tokens."""
    family = _live_refresh_tokens().filter(token_family=OuterRef("token_family"))
    return Grant.objects.filter(~Exists(family), expires__lt=timezone.now() - CODES_KEPT)


def ended_refresh_tokens() -> QuerySet[RefreshToken]:
    """Return the old refresh tokens of families without a live one."""
    family = _live_refresh_tokens().filter(token_family=OuterRef("token_family"))
    return RefreshToken.objects.filter(~Exists(family), created__lt=timezone.now() - KEPT).exclude(
        pk__in=_live_refresh_tokens().values("pk")
    )


def ended_access_tokens() -> QuerySet[AccessToken]:
    """Return the expired OAuth and tool tokens, except the newest of each live connection, which shows its last use."""
    over = AccessToken.objects.filter(kind__in=[TokenKind.OAUTH, TokenKind.MCP], expires__lt=timezone.now() - KEPT)
    return over.filter(~Exists(_live_refresh_tokens().filter(access_token=OuterRef("pk"))))


def ended_page_tokens() -> QuerySet[FirstPartyToken]:
    """Return the expired tokens of our own pages."""
    return FirstPartyToken.objects.filter(expires_at__lt=timezone.now())


def _live_refresh_tokens() -> QuerySet[RefreshToken]:
    idle = timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
    return RefreshToken.objects.order_by().filter(revoked=None, created__gt=timezone.now() - idle)
