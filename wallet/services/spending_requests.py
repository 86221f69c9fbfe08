"""Purchases that ask the wallet's owner where a spending limit does not allow them."""

from developers.principals import Principal

from ..errors import IdempotencyKeyRequired, SpendingLimitExceeded
from ..models import Approval
from ..models.approvals import ApprovalStatus
from .approvals import find_approval, request_approval
from .offers import PurchaseRequest
from .spending import Receipt, keyed_purchase, spend


def spend_or_request_approval(
    *, purchase: PurchaseRequest, quote_id: str | None, idempotency_key: str | None, reason: str, principal: Principal
) -> tuple[Receipt | Approval, bool]:
    """Buy a listing as `spend` does, or ask the owner of the wallet where a limit of the owner's does not allow it.

    The same call completes the purchase, at the price at which it was asked for, once the owner has approved it.

    Returns:
        The receipt, or the approval that waits, and whether it is from an earlier call.

    Raises:
        IdempotencyKeyRequired: there is no key.
        ApprovalDeclined: the owner declined.
        ApprovalExpired: the owner did not approve it in time, or it was not completed in time.
        Problem: one that `spend` or `request_approval` raises.
    """
    request = keyed_purchase(buyer=principal.user, purchase=purchase, quote_id=quote_id, key=idempotency_key, principal=principal)
    if request is None:
        raise IdempotencyKeyRequired
    approval = find_approval(request=request, principal=principal)
    if approval is not None and approval.current_status == ApprovalStatus.WAITING:
        return approval, True
    try:
        return spend(
            buyer=principal.user,
            purchase=purchase,
            quote_id=quote_id,
            idempotency_key=idempotency_key,
            principal=principal,
            approval=approval,
        )
    except SpendingLimitExceeded as refusal:
        if approval is not None:
            raise
        asked = request_approval(request=request, purchase=purchase, quote_id=quote_id, refusal=refusal, reason=reason, principal=principal)
        return asked, False
