"""Approvals: the owner of a wallet allows or declines a purchase that exceeds a spending limit.

Decisions lock the owner, then the approval. A purchase locks the wallet, then the approval; a purchase for a licensee locks the owner before both.
"""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from developers.errors import PasswordRequired
from developers.models import AccessToken, App
from developers.principals import Principal
from developers.selectors import owner_spending_limits, spending_apps_of, spending_tokens_of
from developers.services.spending import LimitValues, set_spending_limit
from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import IdempotencyKeyReused, InvalidTransition
from marketplace.core.idempotency import KeyedRequest
from marketplace.core.money import Currency
from marketplace.core.transitions import TransitionTable, lock
from marketplace.ui.mail import mail

from .. import bounds
from ..errors import ApprovalDeclined, ApprovalExpired, SpendingLimitExceeded, TooManyApprovals
from ..models import Approval
from ..models.approvals import ApprovalStatus
from ..webhooks import publish_approval
from .limits import enforce_limits, spender_id_of, sum_spent
from .offers import PurchaseRequest
from .quotes import find_requested_offer, save_quote

_WAITING, _APPROVED = ApprovalStatus.WAITING.value, ApprovalStatus.APPROVED.value
APPROVAL_TRANSITIONS = TransitionTable(
    "approval",
    {
        "approve": ({_WAITING}, _APPROVED),
        # An owner may think again until the purchase is made.
        "decline": ({_WAITING, _APPROVED}, ApprovalStatus.DECLINED.value),
        "complete": ({_APPROVED}, ApprovalStatus.COMPLETED.value),
    },
    owner="owner_id",
)
LIFETIME = timedelta(hours=bounds.APPROVAL_HOURS)


def find_approval(*, request: KeyedRequest, principal: Principal) -> Approval | None:
    """Return the approval that this request has asked for, None if there is none.

    Raises:
        IdempotencyKeyReused: the app or token has asked for another purchase with this key.
    """
    spender = {"app": principal.app, "spender_id": spender_id_of(principal)}
    approval = Approval.objects.filter(owner_id=request.owner.pk, idempotency_key=request.key, **spender).first()
    if approval is not None and approval.fingerprint != request.fingerprint:
        raise IdempotencyKeyReused
    return approval


@transaction.atomic
def request_approval(
    *,
    request: KeyedRequest,
    purchase: PurchaseRequest,
    quote_id: str | None,
    refusal: SpendingLimitExceeded,
    reason: str,
    principal: Principal,
) -> Approval:
    """Ask the owner of the wallet to allow a purchase at its present price, or the quote's, which is guaranteed until the approval expires.

    Once it is approved, the same `request` completes the purchase. `refusal` names the limit of the owner that the purchase exceeds.

    Raises:
        SpendingLimitExceeded: a limit that staff set refuses it, which the owner cannot raise.
        TooManyApprovals: the app or token has asked too often.
        IdempotencyKeyReused: as in `find_approval`.
        Problem: one that `find_requested_offer` raises.
    """
    reason = texts.clean_line(reason, "reason", maximum=bounds.APPROVAL_REASON_CHARS, required=False)
    owner = lock(User.objects.filter(is_active=True), pk=principal.user.pk)
    if (asked := find_approval(request=request, principal=principal)) is not None:
        return asked
    now, spender = timezone.now(), {"app_id": principal.app_id, "spender_id": spender_id_of(principal)}
    if Approval.objects.filter(owner=owner, created_at__gt=now - LIFETIME, **spender).count() >= bounds.APPROVALS_A_DAY:
        raise TooManyApprovals(maximum=bounds.APPROVALS_A_DAY)
    offer = find_requested_offer(buyer=owner, purchase=purchase, quote_id=quote_id)
    enforce_limits(offer=offer, principal=principal, approved=True)
    approval = Approval.objects.create(
        owner=owner,
        quote=save_quote(buyer=owner, offer=offer, now=now, expires_at=now + LIFETIME),
        spender_name=getattr(principal.app or principal.credential, "name", ""),
        idempotency_key=request.key,
        fingerprint=request.fingerprint,
        reason=reason,
        exceeded_limit=refusal.members["limit"],
        created_at=now,
        expires_at=now + LIFETIME,
        **spender,
    )
    audit.record("approval.request", approval, actor=owner, to_state=approval.status)
    mail(owner, "wallet/approval_requested", approval=approval, quote=approval.quote)
    return approval


@transaction.atomic
def approve_purchase(
    *, approval: Approval, actor: User, password_confirmed: bool = False, raised_limit: LimitValues | None = None
) -> Approval:
    """Allow a purchase once, as the wallet's owner; `raised_limit` replaces the owner's limit for the app, or the token and its rotations, as well.

    Raises:
        ApprovalExpired: it has expired.
        InvalidInput: the limit is not valid.
        InvalidTransition: it was decided already, or the app or token may not spend any more.
        NotFound: it is not the actor's.
        PasswordRequired: the limit is raised or the price is above `APPROVAL_PASSWORD_ABOVE`, and the password was not given again.
    """
    approval = _lock_unexpired(approval, actor)
    if (raised_limit is not None or needs_password(approval=approval)) and not password_confirmed:
        raise PasswordRequired("Enter your password to raise a limit, or to approve a purchase of this price.")
    spenders = _spenders(approval)
    if not spenders:
        raise InvalidTransition(f"{approval.spender_name} may not spend any more.")
    if raised_limit is not None:
        for spender in spenders:
            set_spending_limit(owner=actor, spender=spender, limit_values=raised_limit, actor=actor)
    APPROVAL_TRANSITIONS.apply(approval, "approve", actor=actor, changes={"decided_at": timezone.now()})
    publish_approval(approval)
    return approval


@transaction.atomic
def decline_purchase(*, approval: Approval, actor: User) -> Approval:
    """Decline a purchase as the wallet's owner, who may also withdraw an approval that was not used.

    Raises:
        ApprovalExpired: it has expired.
        InvalidTransition: it was declined already, or the purchase was made.
        NotFound: it is not the actor's.
    """
    approval = _lock_unexpired(approval, actor)
    APPROVAL_TRANSITIONS.apply(approval, "decline", actor=actor, changes={"decided_at": timezone.now()})
    publish_approval(approval)
    return approval


@transaction.atomic
def decline_purchases_of_app(*, user_id: uuid.UUID, app_id: uuid.UUID) -> None:
    """Decline what an app asked a user for and has not bought."""
    lock(User.objects.all(), pk=user_id)
    rows = Approval.objects.filter(owner=user_id, app=app_id, status__in=(_WAITING, _APPROVED))
    for approval in rows.select_for_update(no_key=True).order_by("pk"):
        APPROVAL_TRANSITIONS.apply(approval, "decline", actor=None, changes={"decided_at": timezone.now()})


def refuse_ended(*, approval: Approval) -> None:
    """Refuse an approval that was declined or has expired. One that was not decided yet, or was used, is not refused here.

    Raises:
        ApprovalDeclined: it was declined.
        ApprovalExpired: it has expired.
    """
    if approval.status == ApprovalStatus.DECLINED:
        raise ApprovalDeclined(approvalId=str(approval.pk))
    if approval.current_status == ApprovalStatus.EXPIRED:
        raise ApprovalExpired(approvalId=str(approval.pk))


def complete_approval(*, approval: Approval, order_id: uuid.UUID) -> None:
    """Use an approval for its purchase, in the caller's transaction.

    Raises:
        ApprovalDeclined: it was declined meanwhile.
        ApprovalExpired: it has expired.
        InvalidTransition: it was used, or was not approved.
    """
    approval = lock(Approval.objects.select_related("owner"), pk=approval.pk)
    refuse_ended(approval=approval)
    APPROVAL_TRANSITIONS.apply(approval, "complete", actor=approval.owner, changes={"order_id": order_id})


def needs_password(*, approval: Approval) -> bool:
    """Tell whether the owner must give the password again to approve a purchase of this price."""
    return approval.quote.price_minor > settings.APPROVAL_PASSWORD_ABOVE[approval.quote.currency]


def _spenders(approval: Approval) -> Sequence[App | AccessToken]:
    """Return the app that asked, or the active rotations of the token that asked, newest first; none if it may not spend from the wallet any more."""
    if approval.app_id is not None:
        return [*spending_apps_of(approval.owner).filter(pk=approval.app_id)]
    rotations = Q(pk=approval.spender_id) | Q(first_token_id=approval.spender_id)
    return [*spending_tokens_of(approval.owner).filter(rotations).order_by("-created", "-pk")]


def suggest_limit(*, approval: Approval) -> LimitValues | None:
    """Return the owner's limit, or a first one in the currency, raised just enough to allow the purchase; None if the app or token may not spend any more."""
    spenders, quote = _spenders(approval), approval.quote
    if not spenders:
        return None
    spent = sum_spent(buyer=approval.owner, app_id=approval.app_id, spender_id=approval.spender_id, currency=quote.currency)
    needed: dict[str, Any] = {
        "per_purchase_minor": quote.price_minor,
        "per_day_minor": spent.today_minor + quote.price_minor,
        "total_minor": spent.ever_minor + quote.price_minor,
    }
    limits = list(owner_spending_limits(approval.owner, spenders[0]))
    limit = next((each for each in limits if each.currency == quote.currency), None)
    if limit is not None:
        needed = {name: None if (amount := getattr(limit, name)) is None else max(amount, least) for name, least in needed.items()}
    # A first limit of a currency keeps to the categories of the other one.
    allowed = {slug for each in (limits if limit is None else [limit]) for slug in each.categories}
    categories = {*allowed, quote.listing.category.slug} if allowed else ()
    return LimitValues(Currency(quote.currency), **needed, categories=tuple(sorted(categories)))


def _lock_unexpired(approval: Approval, actor: User) -> Approval:
    """Return the actor's approval, which has not expired, with the actor and it locked."""
    lock(User.objects.filter(is_active=True), pk=actor.pk)
    approval = lock(Approval.objects.select_related("owner", "quote__listing__category"), pk=approval.pk, owner=actor)
    if approval.current_status == ApprovalStatus.EXPIRED:
        raise ApprovalExpired(approvalId=str(approval.pk))
    return approval
