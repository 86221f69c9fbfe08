"""Packages, download links and downloads."""

from django.conf import settings
from django.db import models

from catalog import bounds
from catalog.models import Deliverable, Listing
from developers.models import App
from marketplace.core.ids import new_id

from .licences import Licence


class Package(models.Model):
    """A package that buyers download, identified by its content: the same recipe gives the same bytes for every buyer.

    The texts are stored, so that an issued link serves the same bytes after the vendor edits the readme.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Hash of everything that determines the bytes.
    recipe = models.CharField(max_length=64, unique=True)
    deliverable = models.ForeignKey(Deliverable, on_delete=models.PROTECT, related_name="+")
    readme_text = models.TextField()
    license_text = models.TextField()
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    # Key of the built package in the store; empty if it is assembled while it is served.
    object_key = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.recipe


class DownloadLink(models.Model):
    """An issued download link, with its user, credential, package and expiry."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="download_links")
    # Null for a user's own credential.
    app = models.ForeignKey(App, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    credential_kind = models.CharField(max_length=16, blank=True)
    credential_id = models.UUIDField(null=True, blank=True)
    licence = models.ForeignKey(Licence, on_delete=models.PROTECT, related_name="links")
    listing = models.ForeignKey(Listing, on_delete=models.PROTECT, related_name="+")
    # The index below begins with it.
    deliverable = models.ForeignKey(Deliverable, on_delete=models.PROTECT, related_name="+", db_index=False)
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="+")
    file_name = models.CharField(max_length=bounds.FILE_NAME_CHARS)
    version = models.CharField(max_length=bounds.VERSION_CHARS, blank=True)
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-id",)
        # Who downloaded a file.
        indexes = (models.Index(fields=("deliverable", "user"), name="downloadlink_file_user"),)

    def __str__(self) -> str:
        return self.file_name


class Download(models.Model):
    """A request through a link, for the whole package or a range; or a tool that reads a part of the package."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    link = models.ForeignKey(DownloadLink, on_delete=models.PROTECT, related_name="downloads")
    at = models.DateTimeField(auto_now_add=True)
    # The Range header as it was sent.
    byte_range = models.CharField(max_length=100, blank=True)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.link_id} at {self.at}"
