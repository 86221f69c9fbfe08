"""Top-ups: credit that is paid for through a payment provider, and what is returned of it."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from developers.models import App
from marketplace.core import bounds as core_bounds
from marketplace.core.ids import new_id
from marketplace.ui.formatting import money

from .. import bounds
from .ledger import Journal
from .orders import Order
from .quotes import CURRENCIES, Quote


class TopUpStatus(models.TextChoices):
    """The status of a top-up. A failed one still succeeds if its payment arrives late."""

    PENDING = "Pending"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    DISPUTED = "Disputed"
    RETURNED = "Returned"


class TopUp(models.Model):
    """A request of a user to pay for credit on a page of a payment provider. The journal exists once it is paid."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="top_ups")
    currency = models.CharField(max_length=3, choices=[(code, code) for code in CURRENCIES])
    amount_minor = models.BigIntegerField()
    provider = models.CharField(max_length=bounds.CREDIT_SOURCE_CHARS)
    status = models.CharField(max_length=16, choices=TopUpStatus.choices, default=TopUpStatus.PENDING)
    # The provider's ids of its page and of the payment; empty until they are known.
    page_reference = models.CharField(max_length=bounds.PROVIDER_ID_CHARS, blank=True)
    payment_reference = models.CharField(max_length=bounds.PAYMENT_REFERENCE_CHARS, blank=True)
    payment_url = models.CharField(max_length=core_bounds.URL_CHARS, blank=True)
    # Where the provider sends the payer; empty for our own page.
    return_url = models.CharField(max_length=core_bounds.URL_CHARS, blank=True)
    # The app that asked for it; empty for a user's own token and for pages.
    app = models.ForeignKey(App, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    credential_kind = models.CharField(max_length=16, blank=True)
    # The purchase that it is for.
    quote = models.ForeignKey(Quote, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    journal = models.OneToOneField(Journal, null=True, blank=True, on_delete=models.PROTECT, related_name="top_up")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    # By the provider's clock.
    paid_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = "top-up"
        default_permissions = ("view",)
        permissions = (("refund_topup", "Can refund top-ups to their cards"),)
        constraints = (
            models.CheckConstraint(condition=Q(currency__in=CURRENCIES), name="topup_currency_known"),
            models.CheckConstraint(
                condition=Q(amount_minor__gt=0, amount_minor__lte=bounds.MAX_CREDIT_MINOR), name="topup_amount_in_range"
            ),
            models.CheckConstraint(condition=~Q(provider=""), name="topup_has_provider"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="topup_lasts"),
            models.CheckConstraint(
                condition=Q(status__in=("Pending", "Failed"), journal__isnull=True, paid_at__isnull=True)
                | Q(status__in=("Succeeded", "Disputed", "Returned"), journal__isnull=False, paid_at__isnull=False)
                & ~Q(payment_reference=""),
                name="topup_status_consistent",
            ),
            models.UniqueConstraint(
                fields=("provider", "payment_reference"), condition=~Q(payment_reference=""), name="topup_one_for_payment"
            ),
            models.UniqueConstraint(fields=("provider", "page_reference"), condition=~Q(page_reference=""), name="topup_one_for_page"),
        )
        indexes = (models.Index(fields=("user", "-created_at", "-id"), name="topup_newest"),)

    def __str__(self) -> str:
        return f"{money(self.amount_minor, self.currency)} by {self.provider}"

    @property
    def is_open(self) -> bool:
        """Whether the payment page can still be used."""
        return self.status == TopUpStatus.PENDING and self.expires_at > timezone.now()


class EventKind(models.TextChoices):
    """The kinds of event of a payment provider."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DISPUTED = "disputed"
    DISPUTE_WON = "dispute_won"
    DISPUTE_LOST = "dispute_lost"
    REFUNDED = "refunded"
    REFUND_FAILED = "refund_failed"


class ProviderEvent(models.Model):
    """An event of a payment provider whose signature was right. It is applied once, or waits for the payment or for the end of another dispute or refund."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    provider = models.CharField(max_length=bounds.CREDIT_SOURCE_CHARS)
    event_id = models.CharField(max_length=bounds.PROVIDER_ID_CHARS)
    kind = models.CharField(max_length=16, choices=EventKind.choices)
    top_up = models.ForeignKey(TopUp, null=True, blank=True, on_delete=models.PROTECT, related_name="events")
    payment_reference = models.CharField(max_length=bounds.PAYMENT_REFERENCE_CHARS, blank=True)
    # The provider's id of the dispute or refund.
    reversal_reference = models.CharField(max_length=bounds.PROVIDER_ID_CHARS, blank=True)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3, blank=True)
    occurred_at = models.DateTimeField()
    received_at = models.DateTimeField(default=timezone.now)
    processed_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = "provider event"
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=("provider", "event_id"), name="providerevent_once"),
            models.CheckConstraint(condition=Q(kind__in=EventKind.values), name="providerevent_kind_known"),
            models.CheckConstraint(
                condition=Q(processed_at__isnull=True, outcome="") | Q(processed_at__isnull=False, top_up__isnull=False) & ~Q(outcome=""),
                name="providerevent_processed_consistent",
            ),
        )
        indexes = (
            models.Index(fields=("provider", "payment_reference"), condition=Q(processed_at__isnull=True), name="providerevent_waiting"),
        )

    def __str__(self) -> str:
        return f"{self.provider} {self.event_id}"


class ReversalKind(models.TextChoices):
    """The reasons for which a top-up may return to its card."""

    DISPUTE = "dispute"
    REFUND = "refund"


class ReversalStatus(models.TextChoices):
    """The status of a reversal: open until the dispute or refund is decided. The payment is kept if the dispute is won or the refund fails."""

    OPEN = "Open"
    PAYMENT_KEPT = "Kept"
    PAYMENT_RETURNED = "Returned"


class CardReversal(models.Model):
    """A dispute or a refund of a top-up. The wallet's balance, up to its amount, is frozen until it is decided."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    top_up = models.ForeignKey(TopUp, on_delete=models.PROTECT, related_name="reversals")
    kind = models.CharField(max_length=16, choices=ReversalKind.choices)
    # The provider's id; empty for a refund that was not sent yet.
    reference = models.CharField(max_length=bounds.PROVIDER_ID_CHARS, blank=True)
    amount_minor = models.BigIntegerField()
    status = models.CharField(max_length=16, choices=ReversalStatus.choices, default=ReversalStatus.OPEN)
    # The journal that froze what the wallet held, empty if it held nothing, and the journal that closed the dispute or refund.
    freeze_journal = models.OneToOneField(Journal, null=True, blank=True, on_delete=models.PROTECT, related_name="frozen_reversal")
    closing_journal = models.OneToOneField(Journal, null=True, blank=True, on_delete=models.PROTECT, related_name="closed_reversal")
    opened_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=("top_up",), condition=Q(status="Open"), name="cardreversal_one_open"),
            models.UniqueConstraint(fields=("top_up", "reference"), condition=~Q(reference=""), name="cardreversal_once"),
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="cardreversal_positive"),
            models.CheckConstraint(condition=Q(kind__in=ReversalKind.values), name="cardreversal_kind_known"),
            models.CheckConstraint(
                condition=Q(status="Open", closing_journal__isnull=True, decided_at__isnull=True)
                | Q(status="Kept", freeze_journal__isnull=True, closing_journal__isnull=True, decided_at__isnull=False)
                | Q(status="Kept", freeze_journal__isnull=False, closing_journal__isnull=False, decided_at__isnull=False)
                | Q(status="Returned", closing_journal__isnull=False, decided_at__isnull=False),
                name="cardreversal_status_consistent",
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.reference}"

    @property
    def frozen_minor(self) -> int:
        """The amount that was frozen in the wallet."""
        return 0 if self.freeze_journal is None else -(self.freeze_journal.wallet_net_minor or 0)


class ReversalPart(models.Model):
    """The part of a purchase's price that a reversal is attributed to, and what is withheld of the vendor's share."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    reversal = models.ForeignKey(CardReversal, on_delete=models.PROTECT, related_name="parts")
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="reversal_parts")
    # Disputed while the reversal is open, and lost once the payment has returned. If the payment is kept, it no longer counts.
    reversed_minor = models.BigIntegerField()
    # Whether this reversal suspended the purchase, because half or more of its price was disputed or lost by then. It stays true when the
    # suspension ends.
    suspended = models.BooleanField()
    # Whether this reversal ended the purchase, because half or more of its price was lost by then.
    ended = models.BooleanField(default=False)
    withheld_minor = models.BigIntegerField()
    # One journal for each vendor: what was withheld, and what was released of it.
    withholding_journal = models.ForeignKey(Journal, null=True, blank=True, on_delete=models.PROTECT, related_name="withheld_parts")
    release_journal = models.ForeignKey(Journal, null=True, blank=True, on_delete=models.PROTECT, related_name="released_parts")
    # The part of the withheld share that the returned payment took.
    taken_minor = models.BigIntegerField(default=0)

    class Meta:
        ordering = ("-id",)
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=("reversal", "order"), name="reversalpart_once"),
            models.CheckConstraint(condition=Q(reversed_minor__gt=0), name="reversalpart_positive"),
            models.CheckConstraint(condition=Q(suspended=True) | Q(withheld_minor=0), name="reversalpart_withheld_only_if_suspended"),
            models.CheckConstraint(
                condition=Q(withheld_minor=0, withholding_journal__isnull=True)
                | Q(withheld_minor__gt=0, withholding_journal__isnull=False),
                name="reversalpart_withholding_consistent",
            ),
            models.CheckConstraint(condition=Q(ended=True) | Q(taken_minor=0), name="reversalpart_taken_only_if_ended"),
            models.CheckConstraint(
                condition=Q(taken_minor__gte=0, taken_minor__lte=F("withheld_minor")), name="reversalpart_taken_within_withheld"
            ),
        )

    def __str__(self) -> str:
        return str(self.order_id)
