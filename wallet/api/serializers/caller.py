"""Serializers of the caller: user, credential and limits."""

from datetime import datetime
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from developers.models import AccessToken, App
from developers.principals import Principal
from developers.selectors import needs_spending_limit
from developers.throttling import rate_limits_of_principal
from marketplace.api.fields import Amount
from marketplace.core.access import CredentialKind
from marketplace.core.scopes import Scope, format_scopes
from marketplace.http.rate_limits import WINDOW_SECONDS, LimitUsage, usage_of

from ...models.quotes import CURRENCIES
from ...services.limits import UsedLimit, used_limits

_NULL_IF_UNLIMITED = "null for no limit."


class CallerCredential(serializers.Serializer[Principal]):
    """The credential of the call."""

    kind = serializers.ChoiceField(choices=[kind.value for kind in CredentialKind], help_text="The kind of key or token.")
    prefix = serializers.CharField(help_text="The beginning of the secret.")
    lastFour = serializers.SerializerMethodField(help_text="The end of the secret; empty for tokens of our own pages.")
    name = serializers.SerializerMethodField(help_text="The name that its owner gave it; empty if it has none.")
    expiresAt = serializers.SerializerMethodField(help_text="Time from which it is no longer valid; null if it does not expire.")

    def get_lastFour(self, principal: Principal) -> str:
        return getattr(principal.credential, "hint", "")

    def get_name(self, principal: Principal) -> str:
        return getattr(principal.credential, "name", "")

    def get_expiresAt(self, principal: Principal) -> datetime | None:
        credential = principal.credential
        return credential.expires if isinstance(credential, AccessToken) else credential.expires_at


class CallerApp(serializers.Serializer[App]):
    """The app that makes the call."""

    appId = serializers.CharField(source="pk")
    name = serializers.CharField(help_text="The app's name.")


class CallerSpendingLimit(serializers.Serializer[UsedLimit]):
    """A limit of what the caller may spend in one currency."""

    currency = serializers.ChoiceField(source="limit.currency", choices=CURRENCIES)
    setBy = serializers.SerializerMethodField(help_text="owner: the wallet's owner; operator: staff of the marketplace, for every wallet.")
    perPurchase = Amount(source="limit.per_purchase_minor", allow_null=True, help_text=f"The most for one purchase; {_NULL_IF_UNLIMITED}")
    perDay = Amount(source="limit.per_day_minor", allow_null=True, help_text=f"The most for a day in UTC; {_NULL_IF_UNLIMITED}")
    total = Amount(source="limit.total_minor", allow_null=True, help_text=f"The most in all; {_NULL_IF_UNLIMITED}")
    spentToday = Amount(source="spent.today_minor", help_text="Spent today, without purchases that were refunded or charged back.")
    spentInAll = Amount(source="spent.ever_minor", help_text="Spent in all, without purchases that were refunded or charged back.")
    categories = serializers.ListField(
        source="limit.categories",
        child=serializers.CharField(),
        help_text="Slugs of the categories that may be bought from; empty for all.",
    )

    def get_setBy(self, used: UsedLimit) -> str:
        return "operator" if used.limit.owner_id is None else "owner"


class CallerRateLimit(serializers.Serializer[LimitUsage]):
    """A limit of calls, as in the `RateLimit` fields."""

    policy = serializers.CharField(source="limit.policy", help_text="Its name in the RateLimit fields.")
    calls = serializers.IntegerField(source="limit.calls", help_text="Calls in each window.")
    used = serializers.IntegerField(help_text="Calls in this window, with this one.")
    windowSeconds = serializers.SerializerMethodField(help_text="Length of a window.")
    resetSeconds = serializers.IntegerField(source="seconds_left", help_text="Seconds until the next window.")

    def get_windowSeconds(self, _usage: LimitUsage) -> int:
        return WINDOW_SECONDS


class CallerResponse(serializers.Serializer[Principal]):
    """Who calls, with which credential, and what it may do."""

    userId = serializers.CharField(source="user.pk", help_text="Id of the user that the call acts for.")
    name = serializers.SerializerMethodField(help_text="The user's name; null without account:read.")
    email = serializers.SerializerMethodField(help_text="The user's email address; null without account:read.")
    environment = serializers.SerializerMethodField(help_text="production, or sandbox: a test installation without real money.")
    credential = CallerCredential(source="*", help_text="The credential of the call.")
    app = CallerApp(allow_null=True, help_text="The app that makes the call; null for a user's own token.")
    scopes = serializers.SerializerMethodField(help_text="The scopes that the credential has now.")
    needsSpendingLimit = serializers.SerializerMethodField(
        help_text="Whether the caller can spend only in currencies for which the owner has set a limit."
    )
    spendingLimits = serializers.SerializerMethodField(help_text="The limits of spending; empty if there are none.")
    rateLimits = serializers.SerializerMethodField(help_text="The limits of calls; empty while calls are not counted.")

    def get_name(self, principal: Principal) -> str | None:
        return principal.user.name if Scope.ACCOUNT_READ in principal.scopes else None

    def get_email(self, principal: Principal) -> str | None:
        return principal.user.email if Scope.ACCOUNT_READ in principal.scopes else None

    def get_environment(self, _principal: Principal) -> str:
        return "sandbox" if settings.SANDBOX else "production"

    def get_scopes(self, principal: Principal) -> list[str]:
        return format_scopes(principal.scopes).split()

    def get_needsSpendingLimit(self, principal: Principal) -> bool:
        return needs_spending_limit(principal)

    @extend_schema_field(CallerSpendingLimit(many=True))
    def get_spendingLimits(self, principal: Principal) -> list[dict[str, Any]]:
        limits = used_limits(principal=principal) if Scope.WALLET_SPEND in principal.scopes else []
        return [dict(CallerSpendingLimit(limit).data) for limit in limits]

    @extend_schema_field(CallerRateLimit(many=True))
    def get_rateLimits(self, principal: Principal) -> list[dict[str, Any]]:
        return [dict(CallerRateLimit(usage).data) for usage in usage_of(rate_limits_of_principal(principal))]
