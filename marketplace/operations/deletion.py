"""Erases and anonymises a user's personal data when the account is deleted."""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from catalog.models import AgentManifest, Deliverable, Discount, Listing, Store, StorePicture
from catalog.models.listings import ListingStatus
from developers.models import (
    AccessToken,
    ApiKey,
    App,
    AppLogo,
    AppOrigin,
    AppScope,
    Consent,
    DeveloperApplication,
    FirstPartyToken,
    Grant,
    MetadataReview,
    RefreshToken,
    ScopeReview,
    SpendingLimit,
)
from developers.models.webhooks import WebhookEndpoint, WebhookEvent
from library.models import Favourite, Licence, Package
from marketplace.accounts.errors import AccountInUse
from marketplace.accounts.events import AccountDeleting, AccountEffectsRequested
from marketplace.accounts.models import User
from marketplace.core.models import IdempotencyRecord
from marketplace.review.models import Appeal
from vendors.models import PayoutDetails, Upload, VendorProfile, VendorStatus
from wallet.licensees import licences_for_others
from wallet.models import (
    Approval,
    LedgerAccount,
    Order,
    Quote,
    RefundRequest,
    TopUp,
    WalletPayout,
    WalletSettings,
)
from wallet.models.ledger import ASIDE_KINDS
from wallet.services.billing import erase_billing_details

from .blockers import deletion_blockers
from .models import AccountExport


def anonymise(event: AccountDeleting) -> None:
    """Erase what is personal beyond the account itself.

    Orders, download links and the ledger stay, and so do licences, without the name of the licensee.

    Raises:
        AccountInUse: something prevents it, such as a balance, a debt, an open payout, a disputed payment or a listing on sale.
    """
    user = User.objects.get(pk=event.user_id)
    # Lock the ledger accounts whose balances are checked below: by their ids, as digests do, and those of what is set aside last, as all services do.
    accounts = LedgerAccount.objects.filter(owner=user).alias(is_aside=Q(kind__in=ASIDE_KINDS))
    list(accounts.select_for_update().order_by("is_aside", "pk"))
    # Appeals before what they are about, as decisions on them lock it, and listings before the vendor's profile, as uploads do.
    Appeal.objects.filter(appellant=user).delete()
    _lock(Listing.objects.filter(store__owner=user).only("pk"))
    blockers = deletion_blockers(user.pk)
    if blockers:
        raise AccountInUse(" ".join(blocker.message for blocker in blockers))
    _erase_credentials(user)
    _erase_developer_records(user)
    WalletPayout.objects.filter(wallet__owner=user).update(payment_details="")
    # Rows that have nothing to erase are not written: a buyer may have tens of thousands.
    TopUp.objects.filter(user=user).exclude(return_url="", payment_url="").update(return_url="", payment_url="")
    RefundRequest.objects.filter(order__buyer=user).update(details="", objection="")
    erase_billing_details(user=user)
    claimed = Licence.objects.filter(holder=user, claimed_at__isnull=False)
    Quote.objects.filter(orders__in=claimed.values("order_id")).update(licensee_name="", licensee_email="")
    with_licensee = Licence.objects.filter(holder=user).exclude(licensee_name="", licensee_email="", claim_digest="")
    # In the order of a dispute, whose buyer may have bought several of them.
    _lock(with_licensee)
    with_licensee.update(licensee_name="", licensee_email="", claim_digest="")
    for owned in (SpendingLimit, IdempotencyRecord, Approval, WalletSettings):
        owned._default_manager.filter(owner=user).delete()
    Quote.objects.filter(owner=user, orders__isnull=True).delete()
    Quote.objects.filter(owner=user).exclude(licensee_name="", licensee_email="").update(licensee_name="", licensee_email="")
    AccountExport.objects.filter(user=user).delete()
    Favourite.objects.filter(user=user).delete()
    # Suspended, so that an application does not wait in the queue for ever. No reviewer decided that, so none is named.
    suspended = {"status": VendorStatus.SUSPENDED, "decided_at": timezone.now(), "decided_by": None}
    VendorProfile.objects.filter(user=user).update(bio="", application_data={}, **suspended)
    PayoutDetails.objects.filter(profile__user=user).update(encrypted="", label="")
    _anonymise_store(user)


def _erase_credentials(user: User) -> None:
    """Delete the user's API credentials, and those of other users for the user's apps."""
    # Locked before the tokens, and in this order, as by a refresh and by `lock_consents`.
    list(Consent.objects.select_for_update(of=("self",), no_key=True).filter(Q(user=user) | Q(app__user=user)).order_by("-id"))
    for tokens in (AccessToken, RefreshToken, Grant):
        tokens._default_manager.filter(Q(user=user) | Q(application__user=user)).delete()
    FirstPartyToken.objects.filter(user=user).delete()
    keys = ApiKey.objects.filter(app__user=user)
    # Locked before the notices about them, as by a mail.
    _lock(keys)
    keys.delete()
    Consent.objects.filter(user=user).delete()


def _erase_developer_records(user: User) -> None:
    """Erase the user's applications, requests and webhooks, and what they wrote about their apps."""
    endpoints = WebhookEndpoint.objects.filter(app__user=user)
    # Locked before their deliveries, as by an attempt of one.
    _lock(endpoints)
    endpoints.delete()
    # Applications, then apps, before what belongs to them, as by decisions.
    _lock(DeveloperApplication.objects.filter(user=user))
    # Apps stay, because other users' orders refer to them. They are unusable, as the account is inactive.
    App.objects.filter(user=user).update(purpose="", redirect_uris="", status_reason="")
    WebhookEvent.objects.filter(Q(owner=user) | Q(app__user=user)).delete()
    for rows in (AppLogo, AppOrigin, MetadataReview, ScopeReview):
        rows._default_manager.filter(app__user=user).delete()
    AppScope.objects.filter(app__user=user).update(reason="", note="")
    DeveloperApplication.objects.filter(user=user).delete()


def _anonymise_store(user: User) -> None:
    """Delete listings that were never sold and have no blocked file, and files that were never approved; anonymise the store. Receipts keep its former name."""
    sold = Exists(Order.objects.filter(listing=OuterRef("pk")))
    # By the record of a blocked file its bytes are recognised in other listings.
    blocked = Exists(Deliverable.objects.filter(listing=OuterRef("pk"), blocked_at__isnull=False))
    unsold = list(Listing.objects.filter(~sold, ~blocked, store__owner=user).values_list("pk", flat=True))
    Quote.objects.filter(listing__in=unsold).delete()
    Package.objects.filter(deliverable__listing__in=unsold).delete()
    Listing.objects.filter(pk__in=unsold).update(approved_deliverable=None, candidate_deliverable=None)
    # `sweep_objects --delete` deletes their files each day, and `build_packages --prune` their packages.
    Listing.objects.filter(pk__in=unsold).delete()
    # Nobody could buy what no reviewer has approved.
    unapproved = Deliverable.objects.filter(listing__store__owner=user, approved_at__isnull=True, blocked_at__isnull=True)
    Listing.objects.filter(candidate_deliverable__in=unapproved).update(candidate_deliverable=None)
    unapproved.delete()
    Discount.objects.filter(listing__store__owner=user).delete()
    StorePicture.objects.filter(store__owner=user).delete()
    Upload.objects.filter(listing__store__owner=user).delete()
    # Manifests contain the store's name, and are generated again on request.
    AgentManifest.objects.filter(listing__store__owner=user).delete()
    Store.objects.filter(owner=user).update(name="Closed store", slug=f"closed-{user.pk.hex}", is_open=False)


def _lock(rows: QuerySet[Any]) -> None:
    """Lock rows in the order of their ids."""
    list(rows.select_for_update(of=("self",), no_key=True).order_by("pk"))


def add_effects(event: AccountEffectsRequested) -> None:
    """Add the effects of ending an account, and what prevents it, for the staff's confirmation page."""
    user_id, now = event.user_id, timezone.now()
    unrevoked = Q(revoked_at__isnull=True)
    keys = ApiKey.objects.filter(unrevoked, Q(expires_at__isnull=True) | Q(expires_at__gt=now), app__user=user_id)
    tokens = AccessToken.objects.filter(unrevoked, Q(user=user_id) | Q(application__user=user_id), expires__gt=now)
    event.effects.extend(
        (f"Active keys that will stop working: {keys.count()}.", f"Active tokens that will stop working: {tokens.count()}.")
    )
    if event.is_deletion:
        licences = Licence.objects.filter(holder=user_id, revoked_at__isnull=True)
        event.effects.append(f"Licences that can no longer be used to download: {licences.count()}.")
        unclaimed = licences_for_others(user_id).filter(claimed_at__isnull=True, revoked_at__isnull=True).count()
        if unclaimed:
            event.effects.append(
                f"Licences for others that are lost unless they claim them before the link expires, as nobody can send a new one: {unclaimed}."
            )
        event.effects.extend(
            f"This is not possible at the moment. The user reads: {blocker.message}" for blocker in deletion_blockers(user_id)
        )
    else:
        on_sale = Listing.objects.filter(store__owner=user_id, status=ListingStatus.PUBLISHED)
        event.effects.append(f"Listings that stay on sale: {on_sale.count()}.")
