"""Apps, and the scopes that they request and are granted."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone
from oauth2_provider.models import AbstractApplication

from marketplace.accounts.models import User
from marketplace.core import bounds as core_bounds
from marketplace.core import texts
from marketplace.core.errors import InvalidInput, NotFound
from marketplace.core.ids import new_id
from marketplace.core.scopes import APP_SCOPES, Scope, parse_scopes
from marketplace.review.models import Claimable

from .. import bounds
from ..redirects import matches, uri_error

SCOPE_CHOICES = [(scope.value, scope.value) for scope in Scope if scope in APP_SCOPES]


class AppStatus(models.TextChoices):
    """The status of an app."""

    PENDING = "Pending"
    APPROVED = "Approved"
    REJECTED = "Rejected"
    SUSPENDED = "Suspended"


class App(AbstractApplication):
    """An OAuth client: an app of a developer, which can have API keys, or a client with a metadata document."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)  # type: ignore[assignment]  # the library numbers its rows
    # None for a client with a metadata document: the user who connects it first does not own it.
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="apps")
    status = models.CharField(max_length=16, choices=AppStatus.choices, default=AppStatus.PENDING)
    # Empty for a client with a metadata document.
    purpose = models.TextField(max_length=core_bounds.REASON_CHARS, blank=True)
    # Space-separated scopes of the granted AppScope rows, kept here so that requests read them with the credential.
    granted_scopes = models.CharField(max_length=200, blank=True)
    status_reason = models.TextField(blank=True)

    class Meta:
        ordering = ("-id",)
        permissions = (
            ("decide_app", "Can decide on an app's scopes"),
            ("suspend_app", "Can suspend and reinstate apps"),
            ("set_limit_app", "Can set an app's spending limit"),
        )
        constraints = (
            models.CheckConstraint(condition=Q(status__in=AppStatus.values), name="app_status_known"),
            models.CheckConstraint(
                condition=Q(granted_scopes="") | Q(status__in=[AppStatus.APPROVED, AppStatus.SUSPENDED]),
                name="app_grant_needs_approval",
            ),
            models.CheckConstraint(condition=Q(user__isnull=False) | Q(registration_source="cimd"), name="app_developer_or_document"),
        )
        # The beginning of a name, for the admin's search.
        indexes = (models.Index(fields=("name",), opclasses=("varchar_pattern_ops",), name="app_name_begins"),)

    def clean(self) -> None:
        """Validate the metadata document of a client, in place of the toolkit's own rules for redirect URIs.

        Raises:
            ValidationError: it has no valid name, too few or too many redirect URIs, or one that no app may have.
        """
        try:
            self.name = texts.clean_line(self.name, "name")
        except InvalidInput as fault:
            raise ValidationError({"name": fault.message}) from fault
        uris = self.redirect_uris.split()
        if not 1 <= len(uris) <= bounds.MAX_REDIRECT_URIS or any(map(uri_error, uris)):
            raise ValidationError({"redirect_uris": "The number of addresses, or one of them, is not allowed."})
        if self.authorization_grant_type != self.GRANT_AUTHORIZATION_CODE:
            raise ValidationError({"authorization_grant_type": "Apps use authorization codes."})

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the app; when the toolkit has fetched its document again, only the document's expiry, as changes wait for review."""
        if self.registration_source == self.RegistrationSource.CIMD and not args and not kwargs:
            if self._state.adding:
                # The toolkit creates a secret for every app. Clients have none.
                self.client_secret, self.hash_client_secret = "", False
            else:
                kwargs = {"update_fields": ["cimd_expires_at"]}
        super().save(*args, **kwargs)

    @property
    def scopes(self) -> frozenset[Scope]:
        """The granted scopes."""
        return parse_scopes(self.granted_scopes)

    def redirect_uri_allowed(self, uri: str) -> bool:
        """Tell the toolkit whether a redirect URI is registered (`redirects.matches`)."""
        return any(matches(uri, registered) for registered in self.redirect_uris.split())

    def is_usable(self, request: object = None) -> bool:
        """Tell whether the app may act: it is approved, and its developer, if it has one, is active.

        The toolkit passes a request, which is not used.
        """
        return self.status == AppStatus.APPROVED and (self.user is None or self.user.is_active)

    @property
    def developer(self) -> User:
        """The app's developer, for whom keys and MCP tokens act.

        Raises:
            NotFound: the app has no developer.
        """
        if self.user is None:
            raise NotFound("The app has no developer account: it is an OAuth client that its metadata document describes.")
        return self.user


class AppLogo(models.Model):
    """The logo of an app on its consent page, as a JPEG that the confined process made. Users see it once a reviewer has approved it."""

    app = models.OneToOneField(App, primary_key=True, on_delete=models.CASCADE, related_name="logo")
    image = models.BinaryField()
    # The SHA-256 of the image: a reviewer approves the one that their page showed.
    digest = models.CharField(max_length=64)
    approved = models.BooleanField(default=False)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"Logo of {self.app}"


class AppOrigin(models.Model):
    """An origin of an app's redirect URIs (`redirects.origin_of`): pages of this origin may call with the app's tokens."""

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="origins")
    origin = models.CharField(max_length=core_bounds.URL_CHARS)

    class Meta:
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=("origin", "app"), name="apporigin_once"),)

    def __str__(self) -> str:
        return self.origin


class AppScope(models.Model):
    """A scope that an app requested, with its reason and the reviewer's decision."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="scope_rows")
    scope = models.CharField(max_length=32, choices=SCOPE_CHOICES)
    reason = models.TextField(max_length=core_bounds.REASON_CHARS)
    # None: not decided yet.
    granted = models.BooleanField(null=True)
    note = models.TextField(max_length=core_bounds.REASON_CHARS, blank=True)
    requested_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("app", "scope"), name="appscope_once"),
            models.CheckConstraint(condition=Q(scope__in=[scope for scope, _ in SCOPE_CHOICES]), name="appscope_known"),
        )

    def __str__(self) -> str:
        return self.scope


class ScopeReviewStatus(models.TextChoices):
    """The status of a request for scopes."""

    PENDING = "Pending"
    DECIDED = "Decided"


class ScopeReview(Claimable):
    """A request for scopes; until it is decided, the app keeps the scopes it has."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="scope_reviews")
    status = models.CharField(max_length=16, choices=ScopeReviewStatus.choices, default=ScopeReviewStatus.PENDING)
    requested_at = models.DateTimeField(default=timezone.now)
    # The requested scopes as they were decided: [{scope, reason, granted, note}].
    outcome = models.JSONField(default=list)
    note = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("app",), condition=Q(status="Pending"), name="scopereview_one_open"),
            models.CheckConstraint(condition=Q(status__in=ScopeReviewStatus.values), name="scopereview_status_known"),
        )

    def __str__(self) -> str:
        return f"Scopes of {self.app}"
