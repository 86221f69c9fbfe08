"""Queries of approvals."""

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from developers.principals import Principal
from marketplace.accounts.models import User
from marketplace.core.database import row_by_id
from marketplace.core.errors import NotFound

from .models import Approval
from .models.approvals import ApprovalStatus


def approvals_of(user: User) -> QuerySet[Approval]:
    """Return the purchases that the user was asked to allow, newest first."""
    return Approval.objects.filter(owner=user).select_related("quote__listing__store", "quote__tier").order_by("-created_at", "-id")


def waiting_approvals_of(user: User) -> QuerySet[Approval]:
    """Return the purchases that wait for the user's decision, newest first."""
    return approvals_of(user).filter(status=ApprovalStatus.WAITING, expires_at__gt=timezone.now())


def approval_for(principal: Principal, approval_id: str) -> Approval:
    """Return an approval that the calling app asked for; a personal token sees all of its owner's.

    Raises:
        NotFound: there is none.
    """
    rows = approvals_of(principal.user) if principal.app is None else approvals_of(principal.user).filter(app=principal.app)
    approval = row_by_id(rows, approval_id)
    if approval is None:
        raise NotFound
    return approval


def approval_url(approval: Approval) -> str:
    """Return the address of the page on which the owner decides."""
    return settings.BASE_URL + reverse("approval", args=[approval.pk])
