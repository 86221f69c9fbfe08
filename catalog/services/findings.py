"""Findings, which tell the vendor what to correct: `{code, field, message, hint}`."""

from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit, texts

from ..models import RejectionReason
from ..models.reviews import FIELD_CHARS, MALICIOUS_FILE, MESSAGE_CHARS, TAKEDOWN

MAX_FINDINGS = 30
# The form of a rejection has a row for each.
MAX_ACTIVE_REASONS = 60
# The code of findings that reviewers write themselves.
OTHER = "other"
# Codes that no rejection reason can have.
RESERVED = {OTHER, TAKEDOWN, MALICIOUS_FILE}


def checked_findings(findings: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return validated findings, completed from the rejection reasons.

    Raises:
        InvalidInput: no findings, too many, an unknown or inactive reason, an empty message, or a text that is not valid.
    """
    given = list(findings)
    if not given:
        raise texts.invalid("findings", "empty", "At least one finding is required.")
    if len(given) > MAX_FINDINGS:
        raise texts.invalid("findings", "max_length", f"At most {MAX_FINDINGS} findings.")
    codes = {finding.get("code", "") for finding in given}
    reasons = {reason.code: reason for reason in RejectionReason.objects.filter(code__in=codes, is_active=True)}
    return [_checked(finding, reasons, f"findings/{index}") for index, finding in enumerate(given)]


@transaction.atomic
def save_rejection_reason(*, reason: RejectionReason, changed: Sequence[str], actor: User) -> RejectionReason:
    """Save a new or changed reason; existing findings keep their text.

    Raises:
        InvalidInput: the code is reserved, a text is empty, or too many reasons are active.
    """
    check_reason(reason)
    audit.save_and_record(reason, changed=changed, actor=actor)
    return reason


def check_reason(reason: RejectionReason) -> None:
    """Trim the texts of a reason and validate it.

    Raises:
        InvalidInput: see `save_rejection_reason`.
    """
    if reason.code in RESERVED:
        raise texts.invalid("code", "reserved", "The service itself gives this code to findings. Choose another.")
    for name in ("message", "hint"):
        setattr(reason, name, texts.clean_line(getattr(reason, name), name, maximum=MESSAGE_CHARS))
    reason.field = texts.clean_line(reason.field, "field", maximum=FIELD_CHARS, required=False)
    others = RejectionReason.objects.filter(is_active=True).exclude(pk=reason.pk).count()
    if reason.is_active and others >= MAX_ACTIVE_REASONS:
        raise texts.invalid(
            "is_active", "max_length", f"At most {MAX_ACTIVE_REASONS} reasons are in use at once. Disable another one first."
        )


def _checked(finding: Mapping[str, str], reasons: Mapping[str, RejectionReason], place: str) -> dict[str, str]:
    code = finding.get("code", "")
    reason = RejectionReason(code=OTHER) if code == OTHER else reasons.get(code)
    if reason is None:
        raise texts.invalid(f"{place}/code", "invalid_choice", "There is no such rejection reason, or it is no longer in use.")
    field = texts.clean_line(finding.get("field", ""), f"{place}/field", maximum=FIELD_CHARS, required=False) or reason.field
    message = texts.clean_text(finding.get("message", ""), f"{place}/message", required=not reason.message) or reason.message
    hint = texts.clean_text(finding.get("hint", ""), f"{place}/hint", required=False) or reason.hint
    return {"code": reason.code, "field": field, "message": message, "hint": hint}
