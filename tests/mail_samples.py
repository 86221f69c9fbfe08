"""Every mail with sample data, for tests and for viewing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.conf import settings

from marketplace.accounts.models import MailTopic
from marketplace.ui.mail import mail

_ID = UUID("01936b1e-7b1a-7c3e-9d55-5f3a9c1e2b44")
FOLDERS = (Path(settings.BASE_DIR) / "templates" / "mail", Path(settings.BASE_DIR) / "templates" / "account" / "email")
TEMPLATES = sorted(str(path.relative_to(FOLDERS[0]).with_suffix("")) for path in FOLDERS[0].rglob("*.txt"))
ACCOUNT_TEMPLATES = sorted(path.name.removesuffix("_subject.txt") for path in FOLDERS[1].glob("*_subject.txt"))

# Mails that recipients can unsubscribe from, and those that are always sent: each template is in one of the two.
TOPICS = {
    "wallet/purchased": MailTopic.PURCHASE,
    "wallet/refunded": MailTopic.REFUND,
    "library/updated": MailTopic.UPDATE,
    "wallet/sale_refunded": MailTopic.SALE,
    "wallet/share_decided": MailTopic.SALE,
    "wallet/share_withheld": MailTopic.SALE,
    "wallet/sold": MailTopic.SALE,
    "wallet/paid_out": MailTopic.PAYOUT,
}
ALWAYS_SENT = {
    "accounts": "account_deactivated account_deleted account_reactivated export_ready second_factor_removed",
    "catalog": "approved discount_ended file_blocked file_unblocked rejected reopened restored taken_down",
    "developers": "app_connected app_decided app_limit_removed app_limit_set app_narrowed app_reinstated app_reopened "
    "app_suspended application_approved application_question application_rejected application_withdrawn "
    "consent_ended credential_leaked credential_revoked key_dormant key_limited redirects_decided webhook_disabled",
    "library": "claim ended file_blocked file_unblocked",
    "review": "appeal_dismissed",
    "vendors": "approved payout_details_changed payouts_held payouts_released pictures_removed reinstated rejected suspended",
    "wallet": "approval_requested former_vendor_settled payout_bounced refund_declined refund_in_review refund_in_review_vendor "
    "refund_refused refund_refused_vendor refund_requested refund_to_answer top_up_dispute_lost top_up_dispute_won "
    "top_up_disputed top_up_refunded topped_up wallet_payout_cancelled wallet_payout_paid "
    "wallet_payout_refused wallet_payout_requested",
}

_KEY = type("Key", (SimpleNamespace,), {"__str__": lambda self: f"{self.name} (…{self.last_four})"})
_APP = SimpleNamespace(pk=_ID, name="Fontster", status="Approved")
_FINDINGS = [
    {"field": "title", "message": "The title says “free”, but the listing costs money.", "hint": "Leave the word out."},
    {"field": "", "message": "The preview shows another typeface.", "hint": ""},
]
# What any of the templates names.
CONTEXT: dict[str, Any] = {
    "amount_minor": 1_39_920,
    "app": _APP,
    "appeal": SimpleNamespace(answer="The same picture is on the page of another store, where it was published first."),
    "decision": SimpleNamespace(pk=_ID),
    "audience": SimpleNamespace(label="the API"),
    "app_limit": SimpleNamespace(currency="USD", per_purchase_minor=2_500, per_day_minor=10_000, total_minor=None),
    "currency": "INR",
    "days": 7,
    "balance_minor": 2_39_920,
    "deliverable": SimpleNamespace(original_filename="halden-grotesk-2.1.zip"),
    "developer": "Asha Rao",
    "discount": SimpleNamespace(percent=20, code="SPRING"),
    "endpoint": SimpleNamespace(pk=_ID, url="hooks.example/marketplace"),
    "files": [("Halden Grotesk", "halden-grotesk-2.1.zip")],
    "first": True,
    "key": _KEY(name="build server", last_four="x7Qz", calls_per_minute=120, rate_limit=120),
    "last": True,
    "frozen_minor": 40_000,
    "released_minor": 9_920,
    "taken_minor": 33_830,
    "listing": SimpleNamespace(
        pk=_ID, slug="halden-grotesk", title="Halden Grotesk", is_on_sale=True, store=SimpleNamespace(name="Northlight Type & Motion")
    ),
    "licence": SimpleNamespace(
        title="Halden Grotesk",
        store_name="Northlight Type & Motion",
        tier=SimpleNamespace(name="Commercial"),
        is_for_other=False,
        licensee_email="fonts@client.example",
    ),
    "note": "A good start. Ask again once the checkout is built.",
    "buyer": SimpleNamespace(email="asha@example.com"),
    "scopes": ["wallet:spend", "library:download"],
    "purchases": 1,
    "order": SimpleNamespace(
        pk=_ID,
        title="Halden Grotesk",
        store_name="Northlight Type & Motion",
        license_name="Commercial",
        status="Refunded",
        currency="INR",
        price_minor=49_900,
        tax_minor=7_612,
        vendor_share_minor=33_830,
        discount_minor=9_980,
        discount_code="SPRING",
        upgraded_from=SimpleNamespace(license_name="Personal", status="Completed"),
        upgrade_credit_minor=24_950,
    ),
    "own_app": _APP,
    "details": SimpleNamespace(currency="USD", label="IBAN ending in 3000"),
    "hours": 72,
    "approval": SimpleNamespace(
        pk=_ID, spender_name="Shopping agent", reason="For the poster", expires_at=datetime(2026, 11, 29, 12, tzinfo=UTC)
    ),
    "quote": SimpleNamespace(
        listing=SimpleNamespace(title="Halden Grotesk"), tier=SimpleNamespace(name="Commercial"), price_minor=49_900, currency="INR"
    ),
    "payout": SimpleNamespace(
        pk=_ID,
        reason="The account is closed.",
        batch=SimpleNamespace(run="2026-11", transfer_currency="EUR"),
        details=SimpleNamespace(label="IBAN ending in 3000"),
    ),
    "question": "Which library will you use to draw the previews, and who sees them?",
    "reason": "The terms ask for a working contact address, and ours came back.",
    "refund_request": SimpleNamespace(
        pk=_ID,
        get_reason_display="It does not open or does not work",
        details="The archive ends in the middle.",
        answer_by=datetime(2026, 11, 29, 12, tzinfo=UTC),
        answer="It opens here.",
        objection="It does not open in two programs.",
        decision="The file is as described.",
    ),
    "review": SimpleNamespace(kind="Listing", note="Thank you for the clear description.", findings=_FINDINGS),
    "scope_rows": [
        SimpleNamespace(scope="catalog:read", granted=True, note=""),
        SimpleNamespace(scope="wallet:spend", granted=False, note="Not before there is a limit"),
    ],
    "secret": "Zm9yIHlvdQ",
    "version": "2.1",
    "token": "IjAxOTM2YjFlLTdiMWEtN2MzZS05ZDU1LTVmM2E5YzFlMmI0NCI:1wABCD:abcdefghijklmnopqrstuvwxyz",
    "store": SimpleNamespace(name="Northlight Type & Motion"),
    "reinstated": ["Fontster"],
    "reversal": SimpleNamespace(
        pk=_ID,
        reference="re_3PqX",
        parts=SimpleNamespace(
            exists=True, all=[SimpleNamespace(order=SimpleNamespace(title="Halden Grotesk", license_name="Commercial", upgraded_from=None))]
        ),
    ),
    "suspended": 2,
    "top_up": SimpleNamespace(pk=_ID, payment_reference="pi_3PqX"),
    "what": "API key build server (…x7Qz)",
    "wallet_payout": SimpleNamespace(
        pk=_ID, reference="UTR 7781", reason="The bank knows no such account. Ask again with the right number."
    ),
    "words": ["see what you own", "download what you own"],
}
ACCOUNT_CONTEXT = {
    "email": "asha@example.com",
    "added_email": "asha@studio.example",
    "deleted_email": "asha@studio.example",
    "from_email": "asha@example.com",
    "to_email": "asha@studio.example",
    "activate_url": f"{settings.BASE_URL}/account/confirm-email/MTI:1tQ2:abcdef/",
    "password_reset_url": f"{settings.BASE_URL}/account/password/reset/key/1-abcdef/",
    "signup_url": f"{settings.BASE_URL}/account/signup/",
}


@dataclass
class Sent:
    """A mail in both forms."""

    subject: str = ""
    text: str = ""
    html: str = ""


class Somebody:
    """Who reads the samples."""

    def __init__(self) -> None:
        self.sent = Sent()

    def get_short_name(self) -> str:
        """Return the name to greet by."""
        return "Asha"

    def email_user(self, subject: str, message: str, *, html_message: str, headers: Mapping[str, str]) -> None:
        """Keep the mail."""
        self.sent = Sent(subject, message, html_message)

    def unsubscribe_url(self, topic: str) -> str:
        """Return an address."""
        return f"{settings.BASE_URL}/mails/unsubscribe/{topic}"


def sample_of(template: str, **changes: Any) -> Sent:
    """Return a mail about a decision with sample data."""
    reader = Somebody()
    mail(reader, template, **(CONTEXT | changes))
    return reader.sent


def account_sample(name: str, adapter: Any) -> Sent:
    """Return a mail about signing in with sample data, as the adapter makes it."""
    made = adapter.render_mail(f"account/email/{name}", "asha@example.com", dict(ACCOUNT_CONTEXT))
    return Sent(made.subject, made.body, str(made.alternatives[0][0]))
