"""The rows that `manage.py purge` deletes, in this order: expired codes and tokens, old usage, old webhook events."""

import calendar
import datetime as dt
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from oauth2_provider.settings import oauth2_settings

from .models import AccessToken, ApiUsage, FirstPartyToken, Grant, HourlyUsage, RefreshToken, WebhookDelivery, WebhookEvent
from .models.usage import KEPT_HOURS, KEPT_MONTHS
from .models.webhooks import DeliveryStatus

# How long expired tokens and codes, and webhook events, are kept.
TOKENS_KEPT = timedelta(days=30)
CODES_KEPT = timedelta(days=1)
EVENTS_KEPT = timedelta(days=30)

Expired = Mapping[str, QuerySet[Any]]


def expired_tokens() -> Expired:
    """Return expired codes, tokens of apps, and tokens of our own pages.

    Used codes and refresh tokens are kept while a refresh token of their family is active, to detect their reuse; so is the newest access
    token of each active connection, which shows its last use. Personal tokens are kept as their users' own record.
    """
    now, idle = timezone.now(), timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
    active = RefreshToken.objects.order_by().filter(revoked=None, created__gt=now - idle)
    active_family = Exists(active.filter(token_family=OuterRef("token_family")))
    refresh_tokens = RefreshToken.objects.filter(~active_family, created__lt=now - TOKENS_KEPT).exclude(
        revoked=None, created__gt=now - idle
    )
    access_tokens = AccessToken.objects.filter(application__isnull=False, expires__lt=now - TOKENS_KEPT)
    return {
        "codes": Grant.objects.filter(~active_family, expires__lt=now - CODES_KEPT),
        "refresh tokens": refresh_tokens,
        "access tokens": access_tokens.filter(~Exists(active.filter(access_token=OuterRef("pk")))),
        "first-party tokens": FirstPartyToken.objects.filter(expires_at__lt=now),
    }


def oldest_usage(today: dt.date) -> dt.date:
    """Return the first day whose usage is kept: 13 months ago, so that a month can be compared with the year before."""
    year, month = divmod(today.year * 12 + today.month - 1 - KEPT_MONTHS, 12)
    return dt.date(year, month + 1, min(today.day, calendar.monthrange(year, month + 1)[1]))


def expired_usage() -> Expired:
    """Return the daily and hourly rows of usage that no chart shows any more."""
    now = timezone.now()
    return {
        "daily rows": ApiUsage.objects.filter(day__lt=oldest_usage(now.date())),
        "hourly rows": HourlyUsage.objects.filter(hour__lt=now - timedelta(hours=KEPT_HOURS)),
    }


def expired_events() -> Expired:
    """Return old webhook events without pending deliveries; their deliveries first, which may be too many for one transaction."""
    pending = WebhookDelivery.objects.filter(event=OuterRef("pk"), status=DeliveryStatus.PENDING)
    events = WebhookEvent.objects.filter(~Exists(pending), created_at__lt=timezone.now() - EVENTS_KEPT).order_by()
    return {"deliveries": WebhookDelivery.objects.filter(event__in=events), "events": events}
