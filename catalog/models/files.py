"""The files of a listing: deliverables and public previews."""

import uuid
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.core import bounds as core_bounds
from marketplace.core.ids import new_id

from .. import bounds
from .listings import Listing
from .taxonomy import Store


class Deliverable(models.Model):
    """A file for buyers, who can download it once a reviewer has approved it (`approved_at`)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="deliverables")
    object_key = models.CharField(max_length=200, unique=True)
    original_filename = models.CharField(max_length=bounds.FILE_NAME_CHARS)
    file_size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    # Computed at upload; the zip package around the file needs it.
    crc32 = models.BigIntegerField()
    format = models.CharField(max_length=16)
    technical = models.JSONField(default=dict)
    # The first few hundred entries of an archive as [path, bytes]; names and sizes are public.
    entries = models.JSONField(default=list)
    # The listing's version at approval, with a suffix such as `+2` if an earlier file has it; buyers can request the file by it.
    version = models.CharField(max_length=bounds.VERSION_CHARS, blank=True)
    uploaded_at = models.DateTimeField(auto_now_add=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    # When a reviewer marked the file as malicious, in every listing that had these bytes then (`is_blocked` compares bytes); downloads stop at once.
    blocked_at = models.DateTimeField(null=True, blank=True)
    # Size and ETag, or size, time and inode, of the stored object when its SHA-256 was last checked: while they are the same, the object has not
    # been overwritten.
    fingerprint = models.CharField(max_length=core_bounds.OBJECT_FINGERPRINT_CHARS, blank=True)
    # When the stored bytes were last read and compared.
    verified_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.CheckConstraint(condition=Q(file_size__range=(1, bounds.DELIVERABLE_BYTES)), name="deliverable_size_range"),
            models.CheckConstraint(condition=Q(crc32__range=(0, 2**32 - 1)), name="deliverable_crc_range"),
            # A version names one file.
            models.UniqueConstraint(
                fields=("listing", "version"), condition=Q(approved_at__isnull=False) & ~Q(version=""), name="deliverable_version_taken"
            ),
        )
        indexes = (
            models.Index(fields=("listing", "-approved_at"), condition=Q(approved_at__isnull=False), name="deliverable_versions"),
            models.Index(fields=("verified_at", "id"), name="deliverable_verified"),
            # Finds copies of a blocked file.
            models.Index(fields=("sha256",), name="deliverable_bytes"),
        )

    def __str__(self) -> str:
        return self.original_filename

    @property
    def is_kept(self) -> bool:
        """Tell whether it is kept when it is replaced: buyers may download approved files, and blocked files are evidence."""
        return self.approved_at is not None or self.blocked_at is not None


class FileFacts(models.Model):
    """What the inspection of a listing's file found: what versions are compared by, and what a skill asks for.

    It is kept when the record of a rejected file is deleted.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="+")
    sha256 = models.CharField(max_length=64)
    facts = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "file facts"
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=("listing", "sha256"), name="filefacts_one_for_each_file"),)

    def __str__(self) -> str:
        return self.sha256


def public_technical(technical: dict[str, Any]) -> dict[str, Any]:
    """Return a file's public technical details: without the instructions of an AI skill, which buyers pay for."""
    skill = technical.get("skill")
    return technical if skill is None else technical | {"skill": {name: skill[name] for name in skill if name != "text"}}


class DeliverableStatus(models.TextChoices):
    """The status of a file, derived from the file and its listing."""

    LIVE = "live"
    CANDIDATE = "candidate"
    SUPERSEDED = "superseded"
    BLOCKED = "blocked"


class StoredFile(models.Model):
    """A file in the object store. Another file gets another row, so that the bytes of an id never change."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    object_key = models.CharField(max_length=200, unique=True)
    content_type = models.CharField(max_length=40)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    # When the stored bytes were last read and compared.
    verified_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        indexes = (models.Index(fields=("verified_at", "id"), name="%(class)s_verified"),)


class PreviewKind(models.TextChoices):
    """The kinds of preview."""

    GALLERY = "Gallery"
    FONT_SPECIMEN = "FontSpecimen"
    AUDIO_PREVIEW = "AudioPreview"


class Preview(StoredFile):
    """A public sample of a listing."""

    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="previews")
    kind = models.CharField(max_length=16, choices=PreviewKind.choices)
    # The gallery slot, of which 0 is the card's thumbnail; 0 for the other kinds.
    slot = models.PositiveSmallIntegerField(default=0)
    # Dimensions of an image, duration and waveform of a sound, names of a font.
    details = models.JSONField(default=dict)
    # Smaller copies of an image by name: {"card": {"key", "size", "sha256", "contentType", "width", "height"}}.
    renditions = models.JSONField(default=dict)
    # Description of an image for people who cannot see it.
    alt_text = models.CharField(max_length=bounds.ALT_TEXT_CHARS, blank=True, default="", db_default="")
    uploaded_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(StoredFile.Meta):
        ordering = ("kind", "slot")
        constraints = (
            models.UniqueConstraint(fields=("listing", "kind", "slot"), name="preview_one_in_slot"),
            models.CheckConstraint(
                condition=Q(kind="Gallery", slot__lt=bounds.GALLERY_SLOTS) | Q(kind__in=["FontSpecimen", "AudioPreview"], slot=0),
                name="preview_slot_range",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.slot}"

    @property
    def url(self) -> str:
        """The relative path in the API."""
        return preview_url(self.id)

    @property
    def store(self) -> Store:
        """The store whose owner may see it before everybody may."""
        return self.listing.store

    @property
    def is_public(self) -> bool:
        return self.listing.is_on_sale


class StorePictureKind(models.TextChoices):
    """The pictures that a store has."""

    LOGO = "Logo"
    BANNER = "Banner"


class StorePicture(StoredFile):
    """A picture of a store."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="pictures")
    kind = models.CharField(max_length=16, choices=StorePictureKind.choices)
    # As in `Preview`.
    details = models.JSONField(default=dict)
    renditions = models.JSONField(default=dict)
    uploaded_at = models.DateTimeField(auto_now_add=True)

    class Meta(StoredFile.Meta):
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("store", "kind"), name="storepicture_one_of_each_kind"),
            models.CheckConstraint(condition=Q(kind__in=["Logo", "Banner"]), name="storepicture_kind_known"),
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.store}"

    @property
    def url(self) -> str:
        """The relative path in the API."""
        return preview_url(self.id)

    @property
    def is_public(self) -> bool:
        return self.store.is_open


class FilePreviewKind(models.TextChoices):
    """The kinds of preview that the service makes of an approved file."""

    FONT_STYLE = "FontStyle"
    ANIMATION = "Animation"


class FilePreview(StoredFile):
    """A preview that the service made of an approved file: a subset of one of its fonts, or an animation as a picture."""

    deliverable = models.ForeignKey(Deliverable, on_delete=models.CASCADE, related_name="file_previews")
    kind = models.CharField(max_length=16, choices=FilePreviewKind.choices)
    position = models.PositiveSmallIntegerField()
    # Names, axes and characters of the font, or dimensions and duration of the animation.
    details = models.JSONField(default=dict)
    # The still picture of an animation: {"poster": {"key", "size", "sha256", "contentType", "width", "height"}}.
    renditions = models.JSONField(default=dict)

    class Meta(StoredFile.Meta):
        ordering = ("position",)
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("deliverable", "position"), name="filepreview_one_at_each_position"),
            models.CheckConstraint(condition=Q(kind__in=FilePreviewKind.values), name="filepreview_kind_known"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.position}"

    @property
    def listing(self) -> Listing:
        return self.deliverable.listing

    @property
    def url(self) -> str:
        """The relative address of the page that serves it."""
        return f"/file-previews/{self.pk}"


class FormerPreview(StoredFile):
    """A picture that was replaced, kept because the submission that waits, the last decided or the last approved one showed it: reviewers compare it with the present one."""

    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="former_previews")

    class Meta(StoredFile.Meta):
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=("listing", "sha256"), name="formerpreview_one_for_each_picture"),)

    def __str__(self) -> str:
        return self.sha256


def preview_url(preview_id: uuid.UUID) -> str:
    """Return the relative path of a preview in the API."""
    return f"/api/v1/previews/{preview_id}"
