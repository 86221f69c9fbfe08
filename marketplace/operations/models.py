"""Exports of users' personal data, and the operator's pages."""

from django.conf import settings
from django.db import models

from marketplace.core.ids import new_id

SITE_PAGE_CHARS = 64 * 1024


class AccountExport(models.Model):
    """A user's latest export, kept encrypted until it expires or is replaced by a newer one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    requested_at = models.DateTimeField()
    # Empty while it is being written.
    encrypted = models.TextField(blank=True)
    size = models.PositiveBigIntegerField(default=0)
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=("expires_at",), name="accountexport_expires"),)

    def __str__(self) -> str:
        return str(self.id)

    @property
    def ready(self) -> bool:
        """Whether it can be downloaded."""
        return bool(self.encrypted)


class Installation(models.Model):
    """A single row: whether the database is that of a sandbox. It is written with the first migration."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    sandbox = models.BooleanField()

    class Meta:
        default_permissions = ()
        constraints = (models.CheckConstraint(condition=models.Q(id=1), name="installation_one_row"),)

    def __str__(self) -> str:
        return "sandbox" if self.sandbox else "marketplace"


class SitePage(models.Model):
    """A page that the operator writes, to which every page links; empty until it is written."""

    class Slug(models.TextChoices):
        """The pages, by the path of each."""

        TERMS = "terms", "Terms of service"
        PRIVACY = "privacy", "Privacy"
        REFUNDS = "refunds", "Refunds"
        CONTACT = "contact", "Contact"

    slug = models.CharField("page", max_length=16, primary_key=True, choices=Slug.choices)
    text = models.TextField(
        blank=True, max_length=SITE_PAGE_CHARS, help_text="Markdown. While it is empty, visitors read that the page is not written yet."
    )
    updated_at = models.DateTimeField("last changed", auto_now=True)

    class Meta:
        ordering = ("slug",)
        default_permissions = ("change", "view")
        constraints = (
            models.CheckConstraint(condition=models.Q(slug__in=["terms", "privacy", "refunds", "contact"]), name="sitepage_slug_known"),
        )

    def __str__(self) -> str:
        return self.get_slug_display()
