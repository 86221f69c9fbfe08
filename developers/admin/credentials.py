"""API keys and bearer tokens: neither secrets nor their hashes are shown."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from marketplace.accounts.models import User
from marketplace.core.errors import InvalidTransition
from marketplace.review.decisions import Decision, ReasonForm, decision, service_decision
from marketplace.review.search import SearchQuery
from marketplace.review.service import ServiceAdmin

from .. import bounds
from ..models import AccessToken, ApiKey
from ..services.credentials import limit_api_key, revoke_api_key, revoke_token
from ..usage.selectors import usage_of_credentials
from .effects import revocation_effects
from .usage import usage_context

ENDED = "It has already been revoked."


class RateLimitForm(ReasonForm):
    """Asks for the calls per minute, and the reason."""

    rate_limit = forms.IntegerField(
        label="Calls per minute",
        min_value=1,
        max_value=bounds.MAX_CALLS_PER_MINUTE,
        required=False,
        help_text="Leave empty for the default.",
    )
    field_order = ("rate_limit", "reason")


def _not_revoked(credential: ApiKey | AccessToken) -> bool:
    return credential.revoked_at is None


@admin.register(ApiKey)
class ApiKeyAdmin(ServiceAdmin):
    """API keys, which staff can revoke and limit."""

    list_display = ("name", "last_four", "app", "owner", "rate_limit", "created_at", "expires_at", "last_used_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), ("rate_limit", admin.EmptyFieldListFilter))
    list_select_related = ("app__user",)
    search_fields = ("name", "last_four", "app__name", "app__user__email")
    fields = ("name", "last_four", "app", "owner", "scope", "rate_limit", "created_at", "expires_at", "last_used_at", "revoked_at")
    readonly_fields = ("owner",)
    decision_names = ("revoke", "limit")
    found_title, found_detail = "name", "last_four"

    def find(self, query: SearchQuery) -> list[Q]:
        if query.id:
            return [Q(pk=query.id)]
        if query.email:
            return [Q(app__user__email=query.email)]
        return [Q(last_four=query.ending)] if query.ending else []

    @admin.display(description="Owner")
    def owner(self, key: ApiKey) -> str:
        """Return the email address of the app's developer."""
        return key.app.developer.email

    @decision(
        Decision(
            "Revoke",
            "developers.revoke_apikey",
            "The key stops working at once and permanently.",
            "The key was revoked.",
            available=_not_revoked,
            danger=True,
            effects=revocation_effects,
        )
    )
    def revoke(self, key: ApiKey, actor: User, cleaned_data: Mapping[str, Any]) -> None:
        if not revoke_api_key(key=key, actor=actor, reason=cleaned_data["reason"]):
            raise InvalidTransition(ENDED)

    limit = service_decision(
        Decision(
            "Set rate limit",
            "developers.limit_apikey",
            "The key can make this many calls a minute.",
            "The limit was changed.",
            form=RateLimitForm,
            available=_not_revoked,
        ),
        limit_api_key,
        "key",
    )


@admin.register(AccessToken)
class AccessTokenAdmin(ServiceAdmin):
    """Bearer tokens of every kind, which staff can revoke. Calls with OAuth tokens are shown on the page of their app."""

    list_display = ("kind", "name", "hint", "user", "application", "created", "expires", "last_used_at", "revoked_at")
    list_filter = ("kind",)
    list_select_related = ("user", "application")
    search_fields = ("name", "user__email", "application__name")
    fields = ("kind", "name", "hint", "user", "application", "scope", "created", "expires", "last_used_at", "revoked_at")
    decision_names = ("revoke",)
    row_template = "admin/developers/app_panels.html"
    found_title, found_detail = "name", "hint"

    def find(self, query: SearchQuery) -> list[Q]:
        if query.id:
            return [Q(pk=query.id)]
        if query.email:
            return [Q(user__email=query.email)]
        return [Q(hint=query.ending)] if query.ending else []

    def page_context(self, request: HttpRequest, subject: AccessToken) -> dict[str, Any]:
        context = super().page_context(request, subject)
        return context | usage_context(usage_of_credentials([subject]), context["panels"])

    @decision(
        Decision(
            "Revoke",
            "developers.revoke_accesstoken",
            "The token stops working at once and permanently, and so does the refresh token that renews an OAuth token.",
            "The token was revoked.",
            available=_not_revoked,
            danger=True,
            effects=revocation_effects,
        )
    )
    def revoke(self, token: AccessToken, actor: User, cleaned_data: Mapping[str, Any]) -> None:
        if not revoke_token(token=token, actor=actor, reason=cleaned_data["reason"]):
            raise InvalidTransition(ENDED)
