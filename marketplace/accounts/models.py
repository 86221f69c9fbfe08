"""The user: an email address, a password and a tier."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.apps import apps
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.core import signing
from django.core.mail import EmailMultiAlternatives
from django.db import models, transaction
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.functional import cached_property

from marketplace.core.ids import new_id


class Tier(models.TextChoices):
    """Tiers of accounts, lowest first; a listing may require one."""

    FREE = "free"
    GO = "go"
    PRO = "pro"
    VIP = "vip", "VIP"

    @property
    def rank(self) -> int:
        """Position from the lowest tier."""
        return list(Tier).index(self)


class MailTopic(models.TextChoices):
    """The topics of mails that users can unsubscribe from.

    Mails about security, decisions and one's own requests, and those that ask for something, have none.
    """

    PURCHASE = "purchase", "Receipts of your purchases"
    REFUND = "refund", "Refunds to your wallet"
    UPDATE = "update", "New versions of what you own"
    SALE = "sale", "Sales of your listings"
    PAYOUT = "payout", "Payouts of your earnings"


# The salt of the signature of an unsubscribe link.
UNSUBSCRIBE_SALT = "accounts.mail.unsubscribe"
# The domain of the addresses of deleted accounts; RFC 2606 reserves `.invalid`.
DELETED_DOMAIN = "@deleted.invalid"


class UserManager(BaseUserManager["User"]):
    """Creates users by email address."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Create a user; the address is kept in lower case."""
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    @transaction.atomic
    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Create a user who may do everything in the admin, with a verified address."""
        user = self.create_user(email, password, is_staff=True, is_superuser=True, **fields)
        addresses = apps.get_model("account", "EmailAddress")._default_manager
        addresses.create(user=user, email=user.email, verified=True, primary=True)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        """Return the user with this email address, whatever its case."""
        return self.get(email=(username or "").lower())


class User(AbstractBaseUser, PermissionsMixin):
    """Someone with an account: a buyer, and perhaps a developer, a vendor or staff."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120, blank=True)
    tier = models.CharField(max_length=8, choices=Tier.choices, default=Tier.FREE)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    # Part of the session auth hash: incrementing it ends all sessions of the user.
    session_epoch = models.PositiveIntegerField(default=0, editable=False)
    date_joined = models.DateTimeField(default=timezone.now)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        permissions = (
            ("set_tier_user", "Can change a user's tier"),
            ("deactivate_user", "Can deactivate and reactivate accounts"),
            ("grant_staff_user", "Can grant access to the admin"),
            ("erase_user", "Can permanently delete accounts"),
            ("remove_second_factor_user", "Can turn off a user's two-factor sign-in"),
        )
        # The beginning of a name, for the admin's search.
        indexes = (models.Index(fields=("name",), opclasses=("varchar_pattern_ops",), name="user_name_begins"),)
        constraints = (
            models.UniqueConstraint(Lower("email"), name="user_email_any_case"),
            models.CheckConstraint(condition=models.Q(tier__in=Tier.values), name="user_tier_known"),
        )

    def __str__(self) -> str:
        return self.email

    @property
    def deleted(self) -> bool:
        """Whether the account was deleted, and its row anonymised."""
        return self.email.endswith(DELETED_DOMAIN)

    @cached_property
    def has_second_factor(self) -> bool:
        """Whether signing in requires a second factor; annotated on the signed-in user."""
        return bool(apps.get_model("mfa", "Authenticator")._default_manager.filter(user=self).exists())

    @property
    def may_enter_admin(self) -> bool:
        """Whether the admin lets the user in, which takes a second factor unless the settings say otherwise."""
        return self.is_staff and (self.has_second_factor or not settings.ADMIN_REQUIRES_SECOND_FACTOR)

    def clean(self) -> None:
        """Keep the address in lower case."""
        self.email = self.email.lower()

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Return the hash that sessions must have; it changes with the password and the epoch."""
        salt = f"marketplace.accounts.session.{self.session_epoch}"
        return salted_hmac(salt, self.password, secret=secret, algorithm="sha256").hexdigest()

    def get_short_name(self) -> str:
        """Return the name to greet by."""
        return self.name or self.email.split("@", 1)[0]

    def email_user(self, subject: str, message: str, *, html_message: str, headers: Mapping[str, str]) -> None:
        """Send the user a mail as text and HTML; a deleted account gets none, as its address receives nothing."""
        if self.deleted:
            return
        made = EmailMultiAlternatives(subject, message, None, [self.email], headers=dict(headers))
        made.attach_alternative(html_message, "text/html")
        made.send()

    def unsubscribe_url(self, topic: str) -> str | None:
        """Return the URL that unsubscribes from a topic without signing in, None if the user has unsubscribed."""
        if MailOptOut.objects.filter(user=self, topic=topic).exists():
            return None
        return settings.BASE_URL + reverse("mail-unsubscribe", args=[signing.dumps([self.pk.hex, topic], salt=UNSUBSCRIBE_SALT)])


class MailOptOut(models.Model):
    """A topic that a user gets no mails about."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="mail_opt_outs")
    topic = models.CharField(max_length=16, choices=MailTopic.choices)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("user", "topic"), name="mailoptout_once"),
            models.CheckConstraint(condition=models.Q(topic__in=MailTopic.values), name="mailoptout_topic_known"),
        )

    def __str__(self) -> str:
        return self.topic
