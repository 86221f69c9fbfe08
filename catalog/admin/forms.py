"""What reviewers fill in."""

from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from marketplace.accounts.models import Tier
from marketplace.core import bounds
from marketplace.core.admin import DecisionForm

from ..models import ListingReview
from ..services import findings as catalogue

FINDING_ROWS = 5
PARTS = ("code", "field", "message", "hint")
_CODES = [("", "No finding"), *((code, code.replace("_", " ").capitalize()) for code in catalogue.REASONS)]


def _note() -> forms.CharField:
    return forms.CharField(
        max_length=bounds.REASON_CHARS,
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="For the vendor to read.",
    )


class ApproveForm(DecisionForm):
    """Which tier buyers need, and a note."""

    tier_requirement = forms.ChoiceField(
        choices=Tier.choices, widget=UnfoldAdminSelectWidget, help_text="Which tier a buyer's account needs at least."
    )
    note = _note()

    def __init__(self, *args: Any, subject: ListingReview, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        self.fields["tier_requirement"].initial = subject.listing.tier_requirement


class RejectForm(DecisionForm):
    """Several findings, each a reason from the catalogue with words of one's own, and a note."""

    note = _note()

    def __init__(self, *args: Any, subject: ListingReview, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        for row in range(FINDING_ROWS):
            words = UnfoldAdminTextInputWidget
            self.fields[f"code_{row}"] = forms.ChoiceField(
                label=f"Reason {row + 1}", choices=_CODES, required=False, widget=UnfoldAdminSelectWidget
            )
            self.fields[f"field_{row}"] = forms.CharField(
                label=f"Field {row + 1}", max_length=catalogue.FIELD_CHARS, required=False, widget=words(attrs={"placeholder": "Field"})
            )
            self.fields[f"message_{row}"] = forms.CharField(
                label=f"What is wrong {row + 1}",
                max_length=bounds.REASON_CHARS,
                required=False,
                widget=words(attrs={"placeholder": "What is wrong"}),
            )
            self.fields[f"hint_{row}"] = forms.CharField(
                label=f"What to do {row + 1}",
                max_length=bounds.REASON_CHARS,
                required=False,
                widget=words(attrs={"placeholder": "What to do"}),
            )

    def rows(self) -> list[list[BoundField]]:
        """Return the fields, finding by finding."""
        return [[self[f"{part}_{row}"] for part in PARTS] for row in range(FINDING_ROWS)]

    def clean(self) -> dict[str, Any]:
        """Gather the findings; words without a reason are one of the reviewer's own."""
        cleaned = super().clean() or self.cleaned_data
        given = [{part: cleaned.get(f"{part}_{row}", "") for part in PARTS} for row in range(FINDING_ROWS)]
        cleaned["findings"] = [finding | {"code": finding["code"] or catalogue.OTHER} for finding in given if any(finding.values())]
        return cleaned
