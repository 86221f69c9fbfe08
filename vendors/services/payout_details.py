"""Bank accounts for payouts: the vendor changes them with the password, and can undo a change by a link in a mail.

The link works without signing in, because an attacker who changed the account may have changed the password too. It brings the earlier
account back and holds all payouts until staff release them.
"""

import json
from dataclasses import asdict
from datetime import timedelta

from django.core import signing
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from developers.errors import PasswordRequired
from marketplace.accounts.models import User
from marketplace.accounts.services import end_sessions
from marketplace.core import audit, texts
from marketplace.core.encryption import DecryptionFailed, decrypt, encrypt
from marketplace.core.errors import InvalidTransition, NotFound
from marketplace.core.transitions import lock, lock_for_decision
from marketplace.ui.mail import mail

from .. import bounds
from ..bank_accounts import BankAccount, checked_account
from ..errors import PayoutsHeld, TooManyPayoutChanges, VendorNotApproved
from ..models import PayoutDetails, VendorProfile, VendorStatus
from ..selectors import payout_details_of

_PURPOSE = "payout-details"
_UNDO = "vendors.payout-details.undo"


@transaction.atomic
def change_payout_details(
    *, profile: VendorProfile, currency: str, holder: str, number: str, bank: str, actor: User, password_confirmed: bool = False
) -> PayoutDetails:
    """Set the bank account for payouts in a currency, and mail the vendor a link that undoes it. The same account again changes nothing.

    Payouts in this currency, INR or USD, wait for `bounds.PAYOUT_WAIT`; those prepared before go to the earlier account. `holder`, `number`
    and `bank` are those of `BankAccount`.

    Raises:
        PasswordRequired: the password was not entered again.
        InvalidInput: not a valid account.
        VendorNotApproved: the vendor is not approved.
        PayoutsHeld: the vendor's payouts are held.
        TooManyPayoutChanges: bank accounts were changed too often in the last 24 hours.
        NotFound: it is not the actor's profile.
    """
    if profile.user_id != actor.pk:
        raise NotFound
    if not password_confirmed:
        raise PasswordRequired("Your earnings are paid to this account: enter your password to change it.")
    account = checked_account(currency=currency, holder=holder, number=number, bank=bank)
    profile = lock(VendorProfile.objects.select_related("user", "store"), pk=profile.pk)
    before = payout_details_of(profile).get(currency)
    if before is not None and is_readable(details=before) and bank_account_of(details=before) == account:
        return before
    _check_changeable(profile)
    details = PayoutDetails.objects.create(profile=profile, currency=currency, encrypted=_encrypted(account), label=account.label())
    old = None if before is None else before.label
    audit.record("vendor.change_payout_details", profile, actor=actor, currency=currency, before=old, after=details.label)
    token = signing.dumps(str(details.pk), salt=_UNDO)
    mail(
        profile.user,
        "vendors/payout_details_changed",
        details=details,
        first=before is None,
        store=profile.store,
        token=token,
        days=bounds.UNDO_DAYS,
        hours=bounds.PAYOUT_WAIT // timedelta(hours=1),
    )
    return details


def payout_change_of(*, token: str) -> PayoutDetails:
    """Return the change that the link of a mail undoes.

    Raises:
        NotFound: the link is not valid or too old, or the bank account was erased.
    """
    try:
        details_id = signing.loads(token, salt=_UNDO, max_age=timedelta(days=bounds.UNDO_DAYS))
    except signing.BadSignature as error:
        raise NotFound from error
    # It works although staff deactivated the vendor's account, for which its owner may have asked them.
    details = PayoutDetails.objects.select_related("profile__store").filter(pk=details_id).first()
    if details is None or not details.encrypted:
        raise NotFound
    return details


@transaction.atomic
def undo_payout_change(*, token: str) -> VendorProfile:
    """Withdraw a change of a bank account with all later ones, hold the vendor's payouts and end the vendor's sessions.

    Raises:
        NotFound: the link is not valid or too old, or the bank account was erased.
    """
    profile = payout_change_of(token=token).profile
    # The account first, as in its deletion.
    lock(User.objects.all(), pk=profile.user_id)
    profile = lock(VendorProfile.objects.select_related("user", "store"), pk=profile.pk)
    details = payout_change_of(token=token)
    if details.withdrawn_at is None:
        began = PayoutDetails.objects.filter(pk=details.pk).values("created_at")
        undone = PayoutDetails.objects.filter(profile=profile, currency=details.currency, created_at__gte=began)
        undone.filter(withdrawn_at__isnull=True).update(withdrawn_at=Now())
        _hold(profile)
        end_sessions(user=profile.user, actor=None)
        audit.record("vendor.undo_payout_details", profile, actor=None, currency=details.currency)
        mail(profile.user, "vendors/payouts_held", store=profile.store)
    return profile


@transaction.atomic
def hold_payouts(*, profile: VendorProfile, reason: str, actor: User) -> VendorProfile:
    """Hold a vendor's payouts: nothing is paid out, and no bank account can be changed.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: they are held already.
        SelfReview: it is the actor's own profile.
    """
    reason = texts.clean_text(reason, "reason")
    profile = lock_for_decision(VendorProfile.objects.select_related("user", "store"), pk=profile.pk, owner="user_id", actor=actor)
    if profile.payouts_held_at is not None:
        raise InvalidTransition("The payouts are held already.")
    _hold(profile)
    audit.record("vendor.hold_payouts", profile, actor=actor, reason=reason)
    mail(profile.user, "vendors/payouts_held", store=profile.store, reason=reason)
    return profile


@transaction.atomic
def release_payouts(*, profile: VendorProfile, reason: str, actor: User) -> VendorProfile:
    """Release a vendor's payouts.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: they are not held.
        SelfReview: it is the actor's own profile.
    """
    reason = texts.clean_text(reason, "reason")
    profile = lock_for_decision(VendorProfile.objects.select_related("user", "store"), pk=profile.pk, owner="user_id", actor=actor)
    if profile.payouts_held_at is None:
        raise InvalidTransition("The payouts are not held.")
    profile.payouts_held_at = None
    profile.save(update_fields=["payouts_held_at", "updated_at"])
    audit.record("vendor.release_payouts", profile, actor=actor, reason=reason)
    mail(profile.user, "vendors/payouts_released", store=profile.store)
    return profile


def bank_account_of(*, details: PayoutDetails) -> BankAccount:
    """Return the bank account.

    Raises:
        DecryptionFailed: its key is gone, or it was erased.
    """
    return BankAccount(**json.loads(decrypt(details.encrypted, purpose=_PURPOSE)))


def is_readable(*, details: PayoutDetails) -> bool:
    """Tell whether the bank account can be decrypted: it was not erased, and its key is not gone."""
    try:
        bank_account_of(details=details)
    except DecryptionFailed:
        return False
    return True


@transaction.atomic
def reencrypt_payout_details(*, details: PayoutDetails) -> None:
    """Re-encrypt a bank account with the current key.

    Raises:
        DecryptionFailed: its key is gone.
        NotFound: it was deleted meanwhile.
    """
    details = lock(PayoutDetails.objects.all(), pk=details.pk)
    if details.encrypted:
        details.encrypted = _encrypted(bank_account_of(details=details))
        details.save(update_fields=["encrypted"])


def _check_changeable(profile: VendorProfile) -> None:
    if profile.status != VendorStatus.APPROVED:
        raise VendorNotApproved(vendorStatus=profile.status)
    if profile.payouts_held_at is not None:
        raise PayoutsHeld
    recent = PayoutDetails.objects.filter(profile=profile, created_at__gt=Now() - timedelta(days=1))
    if recent.count() >= bounds.PAYOUT_CHANGES_A_DAY:
        raise TooManyPayoutChanges(maximum=bounds.PAYOUT_CHANGES_A_DAY)


def _encrypted(account: BankAccount) -> str:
    return encrypt(json.dumps(asdict(account)), purpose=_PURPOSE)


def _hold(profile: VendorProfile) -> None:
    profile.payouts_held_at = timezone.now()
    profile.save(update_fields=["payouts_held_at", "updated_at"])
