"""Usage of keys and apps, and notices about unused keys."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.core.scopes import Scope

from .apps import App
from .credentials import ApiKey

OPERATION_CHARS = 100
# How long rows by day and by hour are kept.
KEPT_MONTHS = 13
KEPT_HOURS = 48


class CallerKind(models.TextChoices):
    """The kinds of credential that are counted; console tokens and tokens issued by OAuth are counted under their app."""

    API_KEY = "api_key"
    PERSONAL = "personal"
    OAUTH = "oauth"
    MCP = "mcp"
    CONSOLE = "console"


class ApiUsage(models.Model):
    """The number of calls of one caller to one operation on one day (UTC), with one status."""

    day = models.DateField()
    # None: a user's own token.
    app = models.ForeignKey(App, null=True, on_delete=models.CASCADE, related_name="usage")
    kind = models.CharField(max_length=16, choices=CallerKind.choices)
    # Id of the key, personal token or MCP token; of the app for console tokens and tokens issued by OAuth. It determines the app.
    credential_id = models.UUIDField()
    # Method and route name, such as `POST wallet-spend`: a path would hold ids.
    operation = models.CharField(max_length=OPERATION_CHARS)
    # The scope that the operation requires; empty for a public one.
    scope = models.CharField(max_length=32, blank=True)
    status = models.PositiveSmallIntegerField()
    calls = models.PositiveBigIntegerField()

    class Meta:
        ordering = ("-day", "operation", "status")
        verbose_name_plural = "API usage"
        constraints = (
            models.UniqueConstraint(fields=("day", "kind", "credential_id", "operation", "status"), name="apiusage_once"),
            models.CheckConstraint(condition=Q(kind__in=CallerKind.values), name="apiusage_kind_known"),
            models.CheckConstraint(condition=Q(scope__in=["", *Scope]), name="apiusage_scope_known"),
        )
        indexes = (
            models.Index(fields=("app", "day"), name="apiusage_app_day"),
            models.Index(fields=("credential_id", "day"), name="apiusage_credential_day"),
        )

    def __str__(self) -> str:
        return f"{self.day} {self.operation} {self.status}"


class DormancyNotice(models.Model):
    """The latest mail about an unused key; another may be sent if the key is used in between."""

    key = models.OneToOneField(ApiKey, primary_key=True, on_delete=models.CASCADE, related_name="dormancy_notice")
    sent_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.key} at {self.sent_at:%Y-%m-%d}"


class HourlyUsage(models.Model):
    """The number of calls of one caller to one operation in one hour (UTC), with one status; kept for a shorter time than `ApiUsage`."""

    hour = models.DateTimeField()
    app = models.ForeignKey(App, null=True, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=16)
    credential_id = models.UUIDField()
    operation = models.CharField(max_length=OPERATION_CHARS)
    status = models.PositiveSmallIntegerField()
    calls = models.PositiveBigIntegerField()

    class Meta:
        ordering = ("-hour", "operation", "status")
        verbose_name_plural = "hourly API usage"
        constraints = (models.UniqueConstraint(fields=("hour", "kind", "credential_id", "operation", "status"), name="hourlyusage_once"),)
        indexes = (
            models.Index(fields=("app", "hour"), name="hourlyusage_app_hour"),
            models.Index(fields=("credential_id", "hour"), name="hourlyusage_credential_hour"),
        )

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H} {self.operation} {self.status}"
