"""Users' consents to apps."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.core.ids import new_id
from marketplace.core.scopes import Scope, parse_scopes

from .apps import App


class Consent(models.Model):
    """A user's permission for an app to act for them at one resource, until it is withdrawn.

    Every OAuth token depends on an active consent, whose row is locked while tokens are issued and revoked.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="consents")
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="consents")
    audience = models.CharField(max_length=8, choices=[("api", "API"), ("mcp", "Tools")])
    # Every scope allowed so far, space-separated; each token carries those that were requested for it.
    scope = models.CharField(max_length=200)
    given_at = models.DateTimeField()
    renewed_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        permissions = (("revoke_consent", "Can disconnect apps from users' accounts"),)
        constraints = (
            models.UniqueConstraint(fields=("user", "app", "audience"), condition=Q(withdrawn_at=None), name="consent_one_active"),
            models.CheckConstraint(condition=Q(audience__in=["api", "mcp"]), name="consent_audience_known"),
        )

    def __str__(self) -> str:
        return f"{self.user} to {self.app}"

    @property
    def scopes(self) -> frozenset[Scope]:
        """The allowed scopes."""
        return parse_scopes(self.scope)
