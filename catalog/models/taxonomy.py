"""Categories, stores, licence tiers and their terms."""

import hashlib
from decimal import Decimal

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.core import bounds
from marketplace.core.ids import new_id
from marketplace.core.texts import SLUG

from ..bounds import TERMS_CHARS


class Category(models.Model):
    """A category of the catalog, such as fonts."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # The API takes no other slugs for the category of a listing.
    slug = models.CharField(
        max_length=bounds.SLUG_CHARS,
        unique=True,
        validators=[RegexValidator(rf"^{SLUG.pattern}\Z", "Use lower-case letters, digits and single hyphens between them.")],
    )
    name = models.CharField(max_length=bounds.NAME_CHARS)
    description = models.TextField(blank=True)
    icon = models.CharField(max_length=40, blank=True)
    sort_order = models.PositiveSmallIntegerField(default=0)
    metadata = models.JSONField(default=dict, blank=True)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ("sort_order", "slug")
        verbose_name_plural = "categories"

    def __str__(self) -> str:
        return self.name


class Store(models.Model):
    """A vendor's store. It is open while the vendor is approved; listings of a closed store are not shown."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="store")
    name = models.CharField(max_length=bounds.NAME_CHARS)
    # Its unique constraint is its index.
    slug = models.SlugField(max_length=bounds.SLUG_CHARS, db_index=False)
    is_open = models.BooleanField(default=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("slug",), name="store_slug_taken"),)
        # Prefix lookups of the admin's search.
        indexes = (models.Index(fields=("name",), opclasses=("varchar_pattern_ops",), name="store_name_begins"),)

    def __str__(self) -> str:
        return self.name


class LicenseTier(models.Model):
    """A licence tier; its terms are its newest `LicenseTerms`.

    A listing's price is that of the first tier, by `sort_order`, under which it is sold; the others cost in proportion to their factors.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=bounds.NAME_CHARS)
    summary = models.CharField(max_length=300)
    price_factor = models.DecimalField(
        max_digits=6,
        decimal_places=2,
        default=Decimal(1),
        help_text="Prices under two tiers are in the ratio of their factors.",
    )
    sort_order = models.PositiveSmallIntegerField(default=0)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ("sort_order", "slug")
        verbose_name = "licence tier"
        constraints = (models.CheckConstraint(condition=Q(price_factor__gt=0), name="licensetier_factor_positive"),)

    def __str__(self) -> str:
        return self.name


class LicenseTerms(models.Model):
    """A version of a tier's terms. Rows are only added: a purchase keeps the version that was in force."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tier = models.ForeignKey(LicenseTier, on_delete=models.PROTECT, related_name="terms", db_index=False)
    # 1 for the first terms of the tier.
    version = models.PositiveIntegerField()
    # The tier's name at that time.
    name = models.CharField(max_length=bounds.NAME_CHARS)
    # LICENSE.txt in packages.
    text = models.TextField(max_length=TERMS_CHARS)
    # What the text says about uses: `permission`, `quantity` and `clause` by use, which `uses.UseTerms` reads.
    permissions = models.JSONField(default=dict, blank=True)
    published_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("tier__sort_order", "-version")
        verbose_name = verbose_name_plural = "licence terms"
        # Also the index of a tier's newest terms.
        constraints = (models.UniqueConstraint(fields=("tier", "version"), name="licenseterms_version_once"),)

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"

    @property
    def sha256(self) -> str:
        """The SHA-256 of the text in UTF-8, in hex digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()
