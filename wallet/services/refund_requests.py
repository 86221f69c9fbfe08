"""Refunds that buyers ask for: made at once if nothing was downloaded, else the vendor answers, then staff decide.

Buyer and order are always locked first, in this order; so it does not matter in which order the request, the wallet and the licence are.
"""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from developers.models import App
from library.selectors import downloads_by
from library.services.licences import lock_licence
from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition, NotFound, SelfReview
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail
from vendors.models import VendorProfile, VendorStatus

from ..errors import RefundRequested, RefundUnavailable
from ..models import LedgerAccount, Order, RefundRequest
from ..models.ledger import AccountKind
from ..models.orders import OrderStatus
from ..models.refund_requests import RefundReason, RefundRequestStatus
from ..models.top_ups import ReversalStatus
from ..selectors import refund_requests, upgrade_of
from .refunds import REQUEST_TRANSITIONS, refund_order


@transaction.atomic
def request_refund(*, order: Order, reason: str, details: str, actor: User, app: App | None = None) -> RefundRequest:
    """Ask for a refund of a purchase, once.

    It is refunded at once if it is younger than `REFUND_WINDOW_DAYS`, the holder of its licence has not downloaded the
    asset, and the buyer has not asked for a refund of the asset before. Else the vendor has
    `REFUND_ANSWER_DAYS` to answer; if the vendor cannot, staff decide.

    An `app` that asks for the buyer may only ask for a refund of what it bought.

    Raises:
        InvalidInput: not a known reason, or not a valid text.
        RefundUnavailable: it was refunded or charged back, it was free (and no upgrade), its payment is disputed, or its licence was upgraded.
        RefundRequested: there is a request already.
        NotFound: it is not the actor's purchase, or not the app's, or the account is not active.
    """
    if reason not in RefundReason.values:
        raise texts.invalid("reason", "invalid_choice", f"Use one of: {', '.join(RefundReason.values)}.")
    details = texts.clean_text(details, "details", required=False)
    lock(User.objects.filter(is_active=True), pk=actor.pk)
    orders = Order.objects.select_related("listing__store__owner").filter(buyer=actor)
    order = lock(orders if app is None else orders.filter(app=app), pk=order.pk)
    _require_refundable(order)
    now, at_once = timezone.now(), _is_refunded_at_once(order)
    vendor = order.listing.store.owner
    made = RefundRequest(order=order, vendor=vendor, reason=reason, details=details, asked_at=now, status=RefundRequestStatus.WAITING)
    if at_once:
        made.status, made.ended_at = RefundRequestStatus.REFUNDED, now
    elif VendorProfile.objects.filter(store=order.listing.store, user__is_active=True, status=VendorStatus.APPROVED).exists():
        made.answer_by = now + timedelta(days=settings.REFUND_ANSWER_DAYS)
    else:
        made.status, made.escalated_at = RefundRequestStatus.IN_REVIEW, now
    made.save()
    audit.record("refund_request.ask", made, actor=actor, to_state=made.status, order=str(order.pk))
    if at_once:
        refund_order(order=order, reason="asked for before any download", actor=None)
    else:
        _tell(made.order.buyer, made, "refund_requested")
        if made.status == RefundRequestStatus.WAITING:
            _tell(vendor, made, "refund_to_answer")
    return made


@transaction.atomic
def agree_to_refund(*, refund_request: RefundRequest, actor: User) -> RefundRequest:
    """Refund a purchase as its vendor, who may change their mind until staff have decided.

    Raises:
        InvalidTransition: the request has ended, or the payment is disputed.
        NotFound: it is not about a sale of the actor's.
    """
    refund_request = _lock_for_vendor(refund_request, actor)
    return _refund(refund_request, "the vendor agreed", actor)


@transaction.atomic
def decline_refund(*, refund_request: RefundRequest, reason: str, actor: User) -> RefundRequest:
    """Decline a request as the vendor in time, and mail the reason to the buyer, who can ask staff.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: it was answered already, the time to answer is over, or staff decide.
        NotFound: it is not about a sale of the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    refund_request = _lock_for_vendor(refund_request, actor)
    if refund_request.is_overdue:
        raise InvalidTransition("The time to answer is over: our staff decide.")
    changes = {"answer": reason, "answered_at": timezone.now()}
    REQUEST_TRANSITIONS.apply(refund_request, "decline", actor=actor, reason=reason, changes=changes)
    _tell(refund_request.order.buyer, refund_request, "refund_declined")
    return refund_request


@transaction.atomic
def escalate_refund_request(*, refund_request: RefundRequest, reason: str, actor: User) -> RefundRequest:
    """Ask staff to decide after the vendor declined, as the buyer.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: the vendor has not declined, or staff were asked already.
        NotFound: it is not the actor's request.
    """
    reason = texts.clean_text(reason, "reason")
    refund_request = _lock_request(refund_request)
    if refund_request.order.buyer_id != actor.pk:
        raise NotFound
    if refund_request.status != RefundRequestStatus.DECLINED:
        raise InvalidTransition("Only a request that the vendor declined can be passed on.")
    _escalate(refund_request, actor, objection=reason)
    return refund_request


@transaction.atomic
def grant_refund(*, refund_request: RefundRequest, reason: str, actor: User) -> RefundRequest:
    """Refund a purchase as staff.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: the request does not wait for staff, or the payment is disputed.
        SelfReview: the actor is the buyer or the vendor.
        NotFound: there is no such request.
    """
    reason = texts.clean_text(reason, "reason")
    refund_request = _lock_for_staff(refund_request, actor)
    if refund_request.status != RefundRequestStatus.IN_REVIEW:
        raise InvalidTransition(f"It is {refund_request.status}.")
    return _refund(refund_request, reason, actor)


@transaction.atomic
def refuse_refund(*, refund_request: RefundRequest, reason: str, actor: User) -> RefundRequest:
    """Refuse a request for good as staff, and mail the reason to buyer and vendor.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: the request does not wait for staff.
        SelfReview: the actor is the buyer or the vendor.
        NotFound: there is no such request.
    """
    reason = texts.clean_text(reason, "reason")
    refund_request = _lock_for_staff(refund_request, actor)
    changes = {"decision": reason, "ended_at": timezone.now()}
    REQUEST_TRANSITIONS.apply(refund_request, "refuse", actor=actor, reason=reason, changes=changes)
    _tell(refund_request.order.buyer, refund_request, "refund_refused")
    _tell(refund_request.vendor, refund_request, "refund_refused_vendor")
    return refund_request


def escalate_overdue_requests() -> int:
    """Pass the requests that vendors have not answered in time on to staff, by the database's clock; return their number."""
    overdue = RefundRequest.objects.filter(status=RefundRequestStatus.WAITING, answer_by__lte=Now())
    return sum(_escalate_overdue(found) for found in overdue.order_by("answer_by"))


@transaction.atomic
def _escalate_overdue(refund_request: RefundRequest) -> bool:
    refund_request = _lock_request(refund_request)
    if refund_request.status != RefundRequestStatus.WAITING:
        return False
    _escalate(refund_request, None)
    return True


def _require_refundable(order: Order) -> None:
    existing = RefundRequest.objects.filter(order=order).first()
    if order.status != OrderStatus.COMPLETED:
        raise RefundUnavailable("It was refunded or charged back already.")
    if existing is not None:
        raise RefundRequested(refundRequestId=str(existing.pk))
    # A free upgrade may have replaced the licence of a purchase that was paid.
    if not order.price_minor and order.upgraded_from_id is None:
        raise RefundUnavailable("It was free.")
    if order.reversal_parts.filter(reversal__status=ReversalStatus.OPEN).exists():
        raise RefundUnavailable("The card payment behind it is disputed: wait until that is decided.")
    if upgrade_of(order) is not None:
        raise RefundUnavailable("Its licence was upgraded: ask for a refund of the upgrade first.")


def _is_refunded_at_once(order: Order) -> bool:
    """Tell whether an order is refunded at once.

    That is so if it is recent, the holder of its licence has not downloaded the asset, and its buyer has not asked for a refund of the asset before.
    A download under another licence counts: the file is the same. The order's licence is locked, so that a concurrent
    download is recorded either before the check or not at all.
    """
    window = timedelta(days=settings.REFUND_WINDOW_DAYS)
    if not Order.objects.filter(pk=order.pk, created_at__gt=Now() - window).exists():
        return False
    if RefundRequest.objects.filter(order__buyer=order.buyer_id, order__listing=order.listing_id).exists():
        return False
    # The wallet is locked before the licence, as in a purchase, to avoid deadlocks.
    if order.price_minor:
        lock(LedgerAccount.objects.filter(kind=AccountKind.WALLET), owner=order.buyer_id, currency=order.currency)
    holder_id = lock_licence(order_id=order.pk).holder_id
    return holder_id is None or not downloads_by(holder_id, order.listing_id).exists()


def _lock_request(refund_request: RefundRequest) -> RefundRequest:
    """Return the request, with its buyer, its order and itself locked."""
    order = refund_requests().get(pk=refund_request.pk).order
    lock(User.objects.all(), pk=order.buyer_id)
    lock(Order.objects.all(), pk=order.pk)
    return lock(refund_requests(), pk=refund_request.pk)


def _lock_for_vendor(refund_request: RefundRequest, actor: User) -> RefundRequest:
    refund_request = _lock_request(refund_request)
    if refund_request.vendor_id != actor.pk:
        raise NotFound
    return refund_request


def _lock_for_staff(refund_request: RefundRequest, actor: User) -> RefundRequest:
    refund_request = _lock_request(refund_request)
    if actor.pk in {refund_request.order.buyer_id, refund_request.vendor_id}:
        raise SelfReview("Someone else must decide on your own purchase or sale.")
    return refund_request


def _refund(refund_request: RefundRequest, reason: str, actor: User) -> RefundRequest:
    if not REQUEST_TRANSITIONS.allows(refund_request, "refund"):
        raise InvalidTransition(f"It is {refund_request.status} already.")
    refund_order(order=refund_request.order, reason=reason, actor=actor)
    refund_request.refresh_from_db()
    return refund_request


def _escalate(refund_request: RefundRequest, actor: User | None, objection: str = "") -> None:
    changes = {"escalated_at": timezone.now(), "objection": objection}
    REQUEST_TRANSITIONS.apply(refund_request, "escalate", actor=actor, reason=objection, changes=changes)
    _tell(refund_request.order.buyer, refund_request, "refund_in_review")
    _tell(refund_request.vendor, refund_request, "refund_in_review_vendor")


def _tell(user: User, refund_request: RefundRequest, template: str) -> None:
    if user.is_active:
        mail(user, f"wallet/{template}", refund_request=refund_request, order=refund_request.order)
