"""API keys and bearer tokens: only hashes of secrets are kept, and for seconds, encrypted, the pair that replaces a refresh token."""

import uuid
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from oauth2_provider.models import AbstractAccessToken, AbstractGrant, AbstractIDToken, AbstractRefreshToken

from marketplace.core.ids import new_id
from marketplace.core.scopes import Scope, parse_scopes

from .. import bounds
from .apps import App

# How long a used refresh token still gets the same response: two tabs of a browser may refresh at once.
REFRESH_GRACE = timedelta(seconds=30)


class TokenKind(models.TextChoices):
    """The kinds of bearer token, by how they are created and where they are accepted."""

    PERSONAL = "personal"
    OAUTH = "oauth", "OAuth"
    MCP = "mcp", "MCP"


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """Rows of `ApiKey`."""

    def active(self) -> Self:
        """Return the keys that are neither revoked nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at=None)


class ApiKey(models.Model):
    """A key of an app. It acts as the app's developer with the scopes granted when it was created and still granted now."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=bounds.CREDENTIAL_NAME_CHARS)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    last_four = models.CharField(max_length=4, editable=False, db_index=True)
    # The app's grant at the time, space-separated.
    scope = models.CharField(max_length=200, editable=False)
    # None: the default from settings.
    rate_limit = models.PositiveIntegerField("calls per minute", null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    # As it was issued, None if it never expires: a rotation shortens `expires_at`, and each successor gets this.
    lifetime = models.DurationField(null=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        verbose_name = "API key"
        permissions = (
            ("revoke_apikey", "Can revoke API keys"),
            ("limit_apikey", "Can change the rate limit of an API key"),
        )
        constraints = (models.CheckConstraint(condition=Q(rate_limit__isnull=True) | Q(rate_limit__gte=1), name="apikey_rate_positive"),)

    def __str__(self) -> str:
        return f"{self.name} (…{self.last_four})"

    @property
    def hint(self) -> str:
        """The last four characters. Pages use `hint`, `created` and `expires` for keys and tokens alike."""
        return self.last_four

    @property
    def created(self) -> datetime:
        """When the key was created."""
        return self.created_at

    @property
    def expires(self) -> datetime | None:
        """When the key expires."""
        return self.expires_at

    @property
    def scopes(self) -> frozenset[Scope]:
        """The key's scopes that the app is still granted."""
        return parse_scopes(self.scope) & self.app.scopes

    @property
    def calls_per_minute(self) -> int:
        """The rate limit that staff set, else the default."""
        return self.rate_limit or settings.RATE_LIMITS["api_key"]

    @property
    def is_active(self) -> bool:
        """Tell whether the key itself is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())


class AccessTokenQuerySet(models.QuerySet["AccessToken"]):
    """Rows of `AccessToken`."""

    def active(self) -> Self:
        """Return the tokens that are neither revoked nor expired."""
        return self.filter(revoked_at=None, expires__gt=timezone.now())


class AccessToken(AbstractAccessToken):
    """A bearer token: a personal token, an app's OAuth token, or an MCP token, of an app or, without one, of a user."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)  # type: ignore[assignment]  # the library numbers its rows
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_tokens")
    kind = models.CharField(max_length=16, choices=TokenKind.choices, default=TokenKind.OAUTH)
    name = models.CharField(max_length=bounds.CREDENTIAL_NAME_CHARS, blank=True)
    hint = models.CharField(max_length=4, blank=True, db_index=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # As it was issued: a rotation shortens `expires`, and each successor gets this. None for OAuth tokens, which are not rotated.
    lifetime = models.DurationField(null=True, editable=False)
    # The first token of a chain of rotations; None for the first itself.
    first_token_id = models.UUIDField(null=True, blank=True, editable=False)

    objects = AccessTokenQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        permissions = (("revoke_accesstoken", "Can revoke access tokens"),)
        constraints = (
            models.CheckConstraint(condition=Q(token=""), name="accesstoken_only_hashed"),
            models.CheckConstraint(
                condition=Q(kind="oauth", application__isnull=False) | Q(kind="personal", application__isnull=True) | Q(kind="mcp"),
                name="accesstoken_app_matches_kind",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name or self.get_kind_display()} (…{self.hint})"

    @property
    def is_active(self) -> bool:
        """Tell whether the token itself is neither revoked nor expired."""
        return self.revoked_at is None and self.expires > timezone.now()

    @property
    def spender_id(self) -> uuid.UUID:
        """The id that spending is counted under, the same for all tokens of a chain of rotations."""
        return self.first_token_id or self.pk

    @property
    def scopes(self) -> frozenset[Scope]:
        """The token's scopes, for an app's token those that the app is still granted."""
        own = parse_scopes(self.scope)
        return own if self.application is None else own & self.application.scopes


class RefreshToken(AbstractRefreshToken):
    """Renews an OAuth token, once. The tokens issued from one authorization code are a family and are revoked together."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)  # type: ignore[assignment]  # the library numbers its rows
    # The scopes that the user consented to; an access token may have fewer.
    scope = models.CharField(max_length=200, blank=True)
    # The pair that replaced it, encrypted, while a second refresh gets the same response; then empty.
    encrypted_successor = models.TextField(blank=True, editable=False)

    class Meta(AbstractRefreshToken.Meta):
        constraints = (models.CheckConstraint(condition=Q(token=""), name="refreshtoken_only_hashed"),)

    @property
    def in_grace(self) -> bool:
        """Whether it was replaced so recently that a refresh still returns the pair that replaced it."""
        return bool(self.encrypted_successor) and self.revoked is not None and timezone.now() < self.revoked + REFRESH_GRACE


class Grant(AbstractGrant):
    """An authorization code, which the toolkit calls a grant; not what an app is granted. `code` holds its hash."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)  # type: ignore[assignment]  # the library numbers its rows
    # A used code is kept until it is purged: its reuse revokes the tokens issued for it.
    used_at = models.DateTimeField(null=True, blank=True, editable=False)
    token_family = models.UUIDField(null=True, blank=True, editable=False)

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(code_challenge_method="S256"), name="grant_pkce_s256"),)


class IDToken(AbstractIDToken):
    """Present because the OAuth models are swapped together; OpenID Connect is off."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)  # type: ignore[assignment]  # the library numbers its rows
