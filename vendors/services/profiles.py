"""Changes of vendor profiles: apply, approve, suspend, reinstate, commission."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from catalog.models import Store
from catalog.services.visibility import store_edited, store_visibility_changed
from developers.selectors import is_approved_developer
from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.database import violates
from marketplace.core.errors import InvalidTransition
from marketplace.core.transitions import TransitionTable, lock, lock_for_decision
from marketplace.ui.mail import mail

from ..errors import ListingChanged, StoreSlugTaken, VendorNotApproved, VendorProfileExists
from ..models import VendorProfile, VendorStatus
from .editing import value_hash

VENDOR_TRANSITIONS = TransitionTable(
    "vendor",
    {
        "approve": ({VendorStatus.PENDING}, VendorStatus.APPROVED),
        "reject": ({VendorStatus.PENDING}, VendorStatus.SUSPENDED),
        "suspend": ({VendorStatus.PENDING, VendorStatus.APPROVED}, VendorStatus.SUSPENDED),
        "reinstate": ({VendorStatus.SUSPENDED}, VendorStatus.APPROVED),
    },
)

MAILS = {"approve": "vendors/approved", "reject": "vendors/rejected", "suspend": "vendors/suspended", "reinstate": "vendors/reinstated"}


def apply(
    *,
    user: User,
    store_name: str,
    store_slug: str,
    actor: User,
    bio: str = "",
    application_data: dict[str, Any] | None = None,
    auto_approve: bool = True,
) -> VendorProfile:
    """Create a profile and its store. Approved developers and staff are approved at once, unless they decline that.

    Raises:
        VendorProfileExists: the user has one.
        StoreSlugTaken: another store has the slug.
        NotFound: the account is not active.
    """
    approved = auto_approve and (user.is_staff or is_approved_developer(user))
    status = VendorStatus.APPROVED if approved else VendorStatus.PENDING
    try:
        with transaction.atomic():
            # Serialised with the deletion of the account.
            lock(User.objects.filter(is_active=True), pk=user.pk)
            store = Store.objects.create(owner=user, name=store_name, slug=store_slug, is_open=approved)
            profile = VendorProfile.objects.create(
                user=user,
                store=store,
                status=status,
                bio=bio,
                application_data=application_data or {},
                decided_at=timezone.now() if approved else None,
            )
            audit.record("vendor.apply", profile, actor=actor, to_state=status)
    except IntegrityError as error:
        if VendorProfile.objects.filter(user=user).exists():
            raise VendorProfileExists from error
        if violates(error, Store, "store_slug_taken"):
            raise StoreSlugTaken from error
        raise
    return profile


@transaction.atomic
def update_store(
    *, profile: VendorProfile, actor: User, seen: str = "", store_name: str | None = None, bio: str | None = None
) -> VendorProfile:
    """Change the store's name and description; what is None stays as it is. Its slug cannot be changed.

    `seen` is the hash (`value_hash`) of the name and the description that a page showed; empty where any may be replaced.

    Raises:
        ListingChanged: they are no longer those that were seen.
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    profile = lock_approved(profile)
    store = profile.store
    if seen and value_hash([store.name, profile.bio]) not in {seen, value_hash([store_name, bio])}:
        raise ListingChanged(fields=["store_name", "bio"])
    changed = []
    if store_name is not None and store.name != store_name:
        changed.append("storeName")
        store = lock(Store.objects.all(), pk=store.pk)
        store.name = store_name
        store.save(update_fields=["name"])
        store_edited(store)
    if bio is not None and profile.bio != bio:
        changed.append("bio")
        profile.bio = bio
        profile.save(update_fields=["bio", "updated_at"])
    if changed:
        audit.record("vendor.update", profile, actor=actor, changed=changed)
    profile.store = store
    return profile


def lock_approved(profile: VendorProfile) -> VendorProfile:
    """Return the profile with its store, locked until the end of the transaction.

    Raises:
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    # Its store is read once the lock is held: a query that waits for a lock sees other tables as they were before.
    profile = lock(VendorProfile.objects.all(), pk=profile.pk)
    if profile.status != VendorStatus.APPROVED:
        raise VendorNotApproved(vendorStatus=profile.status)
    return profile


def approve_vendor(*, profile: VendorProfile, reason: str, actor: User) -> VendorProfile:
    """Approve a pending vendor; the store opens."""
    return _decide(profile, "approve", reason=reason, actor=actor)


def reject_vendor(*, profile: VendorProfile, reason: str, actor: User) -> VendorProfile:
    """Reject a pending vendor, who is suspended from then on and can be reinstated."""
    return _decide(profile, "reject", reason=reason, actor=actor)


def suspend_vendor(*, profile: VendorProfile, reason: str, actor: User) -> VendorProfile:
    """Suspend a vendor; the listings leave the catalog, and buyers keep what they own."""
    return _decide(profile, "suspend", reason=reason, actor=actor)


def reinstate_vendor(*, profile: VendorProfile, reason: str, actor: User) -> VendorProfile:
    """Reinstate a suspended vendor; the published listings return to the catalog."""
    return _decide(profile, "reinstate", reason=reason, actor=actor)


@transaction.atomic
def set_commission(*, profile: VendorProfile, commission_rate_bp: int, reason: str, actor: User) -> VendorProfile:
    """Set the marketplace's commission on the vendor's future sales.

    Raises:
        InvalidInput: no reason.
        SelfReview: the actor owns the row.
    """
    reason = texts.clean_text(reason, "reason")
    profile = lock_for_decision(VendorProfile.objects.all(), pk=profile.pk, owner="user_id", actor=actor)
    before = profile.commission_rate_bp
    if before != commission_rate_bp:
        profile.commission_rate_bp = commission_rate_bp
        profile.save(update_fields=["commission_rate_bp", "updated_at"])
        audit.record("vendor.set_commission", profile, actor=actor, reason=reason, before=before, after=commission_rate_bp)
    return profile


@transaction.atomic
def _decide(profile: VendorProfile, verb: str, *, reason: str, actor: User) -> VendorProfile:
    """Change the status, open or close the store, and mail the vendor.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: the status does not allow it, or the vendor's account was deleted.
        SelfReview: the actor owns the row.
    """
    rows, now = VendorProfile.objects.all(), timezone.now()
    profile = VENDOR_TRANSITIONS.decide(
        rows, verb, pk=profile.pk, actor=actor, reason=reason, decided_at=now, decided_by=actor, updated_at=now
    )
    if profile.user.deleted:
        raise InvalidTransition("The account was deleted.")
    store = lock(Store.objects.all(), pk=profile.store_id)
    store.is_open = profile.status == VendorStatus.APPROVED
    store.save(update_fields=["is_open"])
    store_visibility_changed(store)
    profile.store = store
    mail(profile.user, MAILS[verb], store=profile.store, reason=reason)
    return profile
