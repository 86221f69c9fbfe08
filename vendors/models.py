"""The vendor profile, and the bank accounts for payouts."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from catalog import bounds as catalog_bounds
from catalog.models import Deliverable, Listing, Store
from marketplace.core import bounds
from marketplace.core.ids import new_id
from marketplace.core.money import WALLET_CURRENCIES
from marketplace.review.models import Claimable

DEFAULT_COMMISSION_BP = 2_000


class VendorStatus(models.TextChoices):
    """The three states of a profile. A rejected applicant is suspended, too: the API has no other state for it."""

    APPROVED = "Approved"
    PENDING = "Pending"
    SUSPENDED = "Suspended"


class VendorProfile(Claimable):
    """A user's vendor profile.

    Except for applying and reading the status, the vendor API is available, and the store open, only while it is approved.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="vendor_profile")
    store = models.OneToOneField(Store, on_delete=models.PROTECT, related_name="vendor_profile")
    status = models.CharField(max_length=16, choices=VendorStatus.choices, default=VendorStatus.PENDING)
    bio = models.TextField(blank=True)
    # Evidence from the application: links, handles, verification.
    application_data = models.JSONField(default=dict, blank=True)
    # The marketplace's commission on a sale, in basis points.
    commission_rate_bp = models.PositiveIntegerField(default=DEFAULT_COMMISSION_BP)
    # Nothing is paid out, and no bank account changed, until staff release the payouts.
    payouts_held_at = models.DateTimeField(null=True, blank=True)
    applied_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    # Empty while pending, and if approved automatically, as for staff and approved developers.
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("-id",)
        permissions = (
            ("decide_vendorprofile", "Can approve, reject, suspend and reinstate vendors, and remove their pictures"),
            ("set_commission_vendorprofile", "Can set a vendor's commission"),
            ("hold_payouts_vendorprofile", "Can hold and release a vendor's payouts"),
        )
        constraints = (
            models.CheckConstraint(condition=Q(status__in=VendorStatus.values), name="vendorprofile_status_known"),
            models.CheckConstraint(condition=Q(commission_rate_bp__lte=bounds.WHOLE_BP), name="vendorprofile_commission_range"),
        )
        indexes = (models.Index(fields=("status", "-id"), name="vendorprofile_queue"),)

    def __str__(self) -> str:
        return f"{self.store}"


class PayoutDetails(models.Model):
    """A vendor's bank account for payouts in one currency. A change adds a row; the newest that is not withdrawn applies."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(VendorProfile, on_delete=models.PROTECT, related_name="payout_details")
    currency = models.CharField(max_length=3)
    # The account as encrypted JSON; erased some time after it was replaced, and with the user's account.
    encrypted = models.TextField(blank=True)
    # The kind of the account and its last four characters.
    label = models.CharField(max_length=40, blank=True)
    # By the database's clock, which decides when the first payout is due.
    created_at = models.DateTimeField(db_default=Now())
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = "bank account"
        verbose_name_plural = "bank accounts"
        default_permissions = ()
        constraints = (
            models.CheckConstraint(
                condition=Q(currency__in=[code.value for code in WALLET_CURRENCIES]), name="payoutdetails_currency_known"
            ),
        )
        indexes = (models.Index(fields=("profile", "currency", "-created_at"), name="payoutdetails_newest"),)

    def __str__(self) -> str:
        return f"{self.currency} {self.id}"


class Upload(models.Model):
    """A resumable upload of a listing's deliverable. Its parts are stored as they arrive, and joined when it is finished."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="uploads")
    filename = models.CharField(max_length=catalog_bounds.FILE_NAME_CHARS)
    size = models.BigIntegerField()
    # The number of bytes received, and the key and size of each stored part.
    offset = models.BigIntegerField(default=0)
    parts = models.JSONField(default=list)
    expires_at = models.DateTimeField()
    # Until when one request may join the parts; empty while none does.
    finishing_until = models.DateTimeField(null=True, blank=True)
    # The file that it became.
    deliverable = models.ForeignKey(Deliverable, null=True, blank=True, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ("-id",)
        default_permissions = ()
        constraints = (
            models.CheckConstraint(condition=Q(size__range=(1, catalog_bounds.DELIVERABLE_BYTES)), name="upload_size_range"),
            models.CheckConstraint(condition=Q(offset__gte=0, offset__lte=models.F("size")), name="upload_offset_range"),
        )
        indexes = (models.Index(fields=("expires_at",), name="upload_expires"),)

    def __str__(self) -> str:
        return self.filename

    @property
    def url(self) -> str:
        """The relative path in the API at which parts are sent."""
        return f"/api/v1/vendor/tus/{self.pk}"

    @property
    def part_keys(self) -> list[str]:
        """The object keys of the stored parts."""
        return [key for key, _ in self.parts]
