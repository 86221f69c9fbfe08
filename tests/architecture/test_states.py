"""The state machines, copied by hand from the decisions: every pair of states, allowed or refused."""

from itertools import product
from typing import Any

import pytest
from django.db import models

from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.services.transitions import LISTING_TRANSITIONS, UPDATE_TRANSITIONS
from developers.models.applications import ApplicationStatus
from developers.models.apps import AppStatus
from developers.models.clients import MetadataReviewStatus
from developers.services.clients import METADATA_REVIEW_TRANSITIONS
from developers.services.states import APP_TRANSITIONS, APPLICATION_TRANSITIONS
from marketplace.core.errors import InvalidTransition
from marketplace.core.transitions import TransitionTable
from marketplace.review.appeals import APPEAL_TRANSITIONS
from marketplace.review.models import AppealStatus
from vendors.models import VendorStatus
from vendors.services.profiles import VENDOR_TRANSITIONS as VENDOR
from wallet.models.approvals import ApprovalStatus
from wallet.models.orders import OrderStatus
from wallet.models.refund_requests import RefundRequestStatus
from wallet.models.top_ups import TopUpStatus
from wallet.models.vendor_payouts import BatchStatus, PayoutStatus
from wallet.models.wallet_payouts import WalletPayoutStatus
from wallet.services.approvals import APPROVAL_TRANSITIONS as APPROVAL
from wallet.services.refunds import ORDER_TRANSITIONS as ORDER
from wallet.services.refunds import REQUEST_TRANSITIONS as REFUND_REQUEST
from wallet.services.top_ups import TOP_UP_TRANSITIONS as TOP_UP
from wallet.services.vendor_payouts import BATCH_TRANSITIONS, VENDOR_PAYOUT_TRANSITIONS
from wallet.services.wallet_payouts import WALLET_PAYOUT_TRANSITIONS

# Verb: from which states, to which.
Edges = dict[str, tuple[set[str], str]]
TABLES: list[tuple[TransitionTable, type[models.TextChoices], Edges]] = [
    (
        LISTING_TRANSITIONS,
        ListingStatus,
        {
            "submit": ({"Draft", "Rejected"}, "PendingReview"),
            "withdraw": ({"PendingReview"}, "Draft"),
            "approve": ({"PendingReview"}, "Published"),
            "reject": ({"PendingReview"}, "Rejected"),
            "takedown": ({"Published"}, "Rejected"),
            "unpublish": ({"Published"}, "Draft"),
            "reopen": ({"Rejected"}, "PendingReview"),
            "restore": ({"Rejected"}, "Published"),
        },
    ),
    (
        UPDATE_TRANSITIONS,
        UpdateStatus,
        {
            "submit": ({""}, "PendingReview"),
            "withdraw": ({"PendingReview"}, ""),
            "approve": ({"PendingReview"}, ""),
            "reject": ({"PendingReview"}, ""),
            "reopen": ({""}, "PendingReview"),
        },
    ),
    (
        VENDOR,
        VendorStatus,
        {
            "approve": ({"Pending"}, "Approved"),
            "reject": ({"Pending"}, "Suspended"),
            "suspend": ({"Pending", "Approved"}, "Suspended"),
            "reinstate": ({"Suspended"}, "Approved"),
        },
    ),
    (
        APPLICATION_TRANSITIONS,
        ApplicationStatus,
        {
            "approve": ({"Pending"}, "Approved"),
            "reject": ({"Pending"}, "Rejected"),
            "ask": ({"Pending"}, "MoreInfoNeeded"),
            "answer": ({"MoreInfoNeeded"}, "Pending"),
            "withdraw": ({"Approved"}, "Withdrawn"),
            "restore": ({"Rejected", "Withdrawn"}, "Approved"),
        },
    ),
    (
        APP_TRANSITIONS,
        AppStatus,
        {
            "approve": ({"Pending"}, "Approved"),
            "reject": ({"Pending"}, "Rejected"),
            "reopen": ({"Rejected"}, "Pending"),
            "suspend": ({"Approved"}, "Suspended"),
            "reinstate": ({"Suspended"}, "Approved"),
        },
    ),
    (
        METADATA_REVIEW_TRANSITIONS,
        MetadataReviewStatus,
        {
            "change": ({"Unchanged", "Changed"}, "Changed"),
            "revert": ({"Changed"}, "Unchanged"),
            "accept": ({"Changed"}, "Unchanged"),
            "refuse": ({"Changed"}, "Unchanged"),
        },
    ),
    (APPEAL_TRANSITIONS, AppealStatus, {"dismiss": ({"Pending"}, "Dismissed"), "accept": ({"Pending"}, "Accepted")}),
    (ORDER, OrderStatus, {"refund": ({"Completed"}, "Refunded"), "charge_back": ({"Completed"}, "ChargedBack")}),
    (
        REFUND_REQUEST,
        RefundRequestStatus,
        {
            "decline": ({"Waiting"}, "Declined"),
            "escalate": ({"Waiting", "Declined"}, "InReview"),
            "refund": ({"Waiting", "Declined", "InReview"}, "Refunded"),
            "refuse": ({"InReview"}, "Refused"),
            "close": ({"Waiting", "Declined", "InReview"}, "Closed"),
        },
    ),
    (
        WALLET_PAYOUT_TRANSITIONS,
        WalletPayoutStatus,
        {"pay": ({"Waiting"}, "Paid"), "refuse": ({"Waiting"}, "Refused"), "cancel": ({"Waiting"}, "Cancelled")},
    ),
    (
        APPROVAL,
        ApprovalStatus,
        {
            "approve": ({"Waiting"}, "Approved"),
            "decline": ({"Waiting", "Approved"}, "Declined"),
            "complete": ({"Approved"}, "Completed"),
        },
    ),
    (
        TOP_UP,
        TopUpStatus,
        {
            "succeed": ({"Pending", "Failed"}, "Succeeded"),
            "fail": ({"Pending"}, "Failed"),
            "dispute": ({"Succeeded"}, "Disputed"),
            "end_dispute": ({"Disputed"}, "Succeeded"),
            "return": ({"Succeeded", "Disputed"}, "Returned"),
        },
    ),
    (BATCH_TRANSITIONS, BatchStatus, {"export": ({"Prepared"}, "Exported"), "cancel": ({"Prepared"}, "Cancelled")}),
    (
        VENDOR_PAYOUT_TRANSITIONS,
        PayoutStatus,
        {
            "export": ({"Prepared"}, "Exported"),
            "pay": ({"Exported"}, "Paid"),
            "bounce": ({"Exported", "Paid"}, "Bounced"),
            "cancel": ({"Prepared"}, "Cancelled"),
        },
    ),
]


class Row:
    """Something that has a state and notes what was saved of it."""

    def __init__(self, field: str, state: str) -> None:
        self._state = type("State", (), {"db": "default"})
        self.saved: list[str] = []
        setattr(self, field, state)

    def save(self, *, update_fields: list[str]) -> None:
        """Note what was saved."""
        self.saved += update_fields


@pytest.fixture(autouse=True)
def audited(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    actions: list[str] = []
    monkeypatch.setattr("marketplace.core.audit.record", lambda action, *_, **__: actions.append(action))
    return actions


@pytest.mark.django_db
@pytest.mark.parametrize(("table", "states", "edges"), TABLES, ids=lambda value: getattr(value, "noun", ""))
def test_table_has_exactly_the_listed_transitions_and_refuses_all_else(
    table: TransitionTable, states: type[models.TextChoices], edges: Edges, audited: list[str]
) -> None:
    assert {verb: (set(sources), after) for verb, (sources, after) in table.edges.items()} == edges
    for verb, state in product(edges, states.values):
        row: Any = Row(table.field, state)
        sources, after = edges[verb]
        assert table.allows(row, verb) is (state in sources)
        audited.clear()
        if state in sources:
            table.apply(row, verb, actor=None)
            assert (getattr(row, table.field), row.saved, audited) == (after, [table.field], [f"{table.noun}.{verb}"])
        else:
            with pytest.raises(InvalidTransition) as refusal:
                table.apply(row, verb, actor=None)
            assert refusal.value.members == {"currentState": state}
            assert (getattr(row, table.field), row.saved, audited) == (state, [], [])
