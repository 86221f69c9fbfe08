"""Packages, download links, and the downloads that were made through them."""

from django.conf import settings
from django.db import models

from catalog import bounds
from catalog.models import Deliverable, Listing
from developers.models import App
from marketplace.core.ids import new_id

from .licences import Licence


class Package(models.Model):
    """What a buyer downloads, named by its content: the same recipe is the same bytes for every buyer.

    The two texts are kept, so that a link goes on giving the bytes it promised while the vendor edits the readme.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Hash of everything the bytes depend on.
    recipe = models.CharField(max_length=64, unique=True)
    deliverable = models.ForeignKey(Deliverable, on_delete=models.PROTECT, related_name="+")
    readme_text = models.TextField()
    license_text = models.TextField()
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    # Where the built package is stored; empty while it is put together from its parts as it is served.
    object_key = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.recipe


class DownloadLink(models.Model):
    """One issued link: who got it, through which credential, for which bytes, until when."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="download_links")
    # Empty for a user's own token.
    app = models.ForeignKey(App, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    credential_kind = models.CharField(max_length=16, blank=True)
    credential_id = models.UUIDField(null=True, blank=True)
    licence = models.ForeignKey(Licence, on_delete=models.PROTECT, related_name="links")
    listing = models.ForeignKey(Listing, on_delete=models.PROTECT, related_name="+")
    deliverable = models.ForeignKey(Deliverable, on_delete=models.PROTECT, related_name="+")
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="+")
    file_name = models.CharField(max_length=bounds.FILE_NAME_CHARS)
    version = models.CharField(max_length=bounds.VERSION_CHARS, blank=True)
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.file_name


class Download(models.Model):
    """One fetch through a link: the whole package or a range of it."""

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
