"""Findings: what a reviewer tells the vendor to correct, `{code, field, message, hint}` (decisions.md section 3)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from marketplace.core import texts

FINDINGS = 30
FIELD_CHARS = 60
OTHER = "other"
TAKEDOWN = "takedown"
MALICIOUS_FILE = "malicious_file"


@dataclass(frozen=True)
class Reason:
    """One entry of the reviewers' catalogue; message and hint stand where the reviewer writes none.

    Args:
        code: What programs read.
        field: The listing's field that is meant.
        message: What is wrong.
        hint: What to do about it.
    """

    code: str
    field: str
    message: str
    hint: str


REASONS = {
    reason.code: reason
    for reason in (
        Reason("title_misleading", "title", "The title does not say what the asset is.", "Name the asset, without praise or search words."),
        Reason(
            "description_thin", "description", "The description leaves out what a buyer needs.", "Say what is inside and how it is used."
        ),
        Reason("category_wrong", "categorySlug", "The asset is in the wrong category.", "Choose the category that buyers would look in."),
        Reason("tags_misleading", "tags", "Some tags do not describe the asset.", "Remove tags that only attract searches."),
        Reason("preview_poor", "previews", "The previews do not show the asset well enough.", "Upload sharp images of the asset in use."),
        Reason("preview_mismatch", "previews", "The previews show something that is not in the file.", "Show only what buyers get."),
        Reason("file_broken", "file", "The file cannot be opened or used.", "Test the archive on another machine, then upload it again."),
        Reason("file_incomplete", "file", "Something that the listing promises is not in the file.", "Add it, or take it out of the text."),
        Reason("licensing_unclear", "file", "The file holds work of others without a licence for it.", "Remove it, or add its licence."),
        Reason("pricing_implausible", "basePrice", "The price does not fit the asset.", "Compare with similar assets and correct it."),
        Reason("readme_missing", "readme", "Buyers need instructions that are not there.", "Write a readme: installation, use, support."),
        Reason(MALICIOUS_FILE, "file", "The file does harm.", "Upload a clean file."),
        Reason(OTHER, "", "", ""),
    )
}


def checked_findings(findings: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the findings with what the catalogue of reasons fills in.

    Raises:
        InvalidInput: none at all, too many, an unknown code, or one that says nothing.
    """
    given = list(findings)
    if not given:
        raise texts.invalid("findings", "empty", "At least one finding is needed.")
    if len(given) > FINDINGS:
        raise texts.invalid("findings", "max_length", f"At most {FINDINGS} findings.")
    return [_checked(finding, f"findings/{index}") for index, finding in enumerate(given)]


def finding_of(code: str, reason: str) -> dict[str, str]:
    """Return the one finding of a takedown or a block, in the reviewer's words."""
    known = REASONS.get(code)
    return {"code": code, "field": known.field if known else "", "message": reason, "hint": known.hint if known else ""}


def _checked(finding: Mapping[str, str], place: str) -> dict[str, str]:
    reason = REASONS.get(finding.get("code", ""))
    if reason is None:
        raise texts.invalid(f"{place}/code", "invalid_choice", "This reason is not in the catalogue.")
    field = finding.get("field", "").strip() or reason.field
    if len(field) > FIELD_CHARS:
        raise texts.invalid(f"{place}/field", "max_length", f"At most {FIELD_CHARS} characters.")
    message = texts.prose(finding.get("message", ""), f"{place}/message", required=not reason.message) or reason.message
    hint = texts.prose(finding.get("hint", ""), f"{place}/hint", required=False) or reason.hint
    return {"code": reason.code, "field": field, "message": message, "hint": hint}
