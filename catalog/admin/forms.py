"""Forms of the review decisions and of the taxonomy."""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, ClassVar

from django import forms
from django.forms.boundfield import BoundField
from django.forms.models import construct_instance

from marketplace.accounts.models import Tier
from marketplace.accounts.pages import problems_as_form_errors
from marketplace.core import bounds
from marketplace.review.base import ModelForm
from marketplace.review.decisions import DecisionForm
from marketplace.ui.forms import Prose

from ..models import Category, ListingReview, RejectionReason, SearchSynonym
from ..models.reviews import FIELD_CHARS
from ..services.findings import OTHER, check_reason
from ..services.taxonomy import check_category, check_synonym

# Rows for findings that the reviewer words.
OTHER_ROWS = 3


def _note() -> Prose:
    return Prose(label="Note to the vendor", required=False, rows=2)


def _line(label: str, maximum: int = bounds.REASON_CHARS) -> forms.CharField:
    return forms.CharField(label=label, max_length=maximum, required=False, widget=forms.TextInput(attrs={"placeholder": label}))


class ApproveForm(DecisionForm):
    """The account tier that buyers need, and a note."""

    tier_requirement = forms.TypedChoiceField(label="Minimum account tier", choices=Tier.choices, coerce=Tier, widget=forms.RadioSelect)
    note = _note()

    def __init__(self, *args: Any, subject: ListingReview, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        self.fields["tier_requirement"].initial = subject.listing.tier_requirement


class RejectForm(DecisionForm):
    """The active rejection reasons, each with a checkbox and details, other findings, and a note."""

    note = _note()

    def __init__(self, *args: Any, subject: ListingReview, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        self.reasons: list[RejectionReason] = list(RejectionReason.objects.filter(is_active=True))
        for reason in self.reasons:
            self.fields[f"reason_{reason.code}"] = forms.BooleanField(label=reason.message, required=False)
            self.fields[f"details_{reason.code}"] = _line("More details, if needed")
        for row in range(OTHER_ROWS):
            self.fields[f"other_field_{row}"] = _line("Field", FIELD_CHARS)
            self.fields[f"other_message_{row}"] = _line("What is wrong")
            self.fields[f"other_hint_{row}"] = _line("What to do")

    def rows(self) -> list[tuple[str, list[tuple[RejectionReason, BoundField, BoundField]]]]:
        """Return the rejection reasons, each with its checkbox and the field for details, grouped by the listing's field."""
        groups: dict[str, list[tuple[RejectionReason, BoundField, BoundField]]] = {}
        for reason in self.reasons:
            row = (reason, self[f"reason_{reason.code}"], self[f"details_{reason.code}"])
            groups.setdefault(reason.field or "listing", []).append(row)
        return list(groups.items())

    def other_rows(self) -> list[list[BoundField]]:
        """Return the form fields of the other findings, row by row."""
        return [[self[f"other_{part}_{row}"] for part in ("field", "message", "hint")] for row in range(OTHER_ROWS)]

    def clean(self) -> dict[str, Any]:
        """Collect the findings; a reason with details counts as chosen."""
        cleaned = super().clean() or self.cleaned_data
        cleaned["findings"] = [*self._chosen_findings(cleaned), *self._other_findings(cleaned)]
        return cleaned

    def _chosen_findings(self, cleaned: dict[str, Any]) -> Iterator[dict[str, str]]:
        for reason in self.reasons:
            details = cleaned.get(f"details_{reason.code}", "")
            if cleaned.get(f"reason_{reason.code}") or details:
                yield {"code": reason.code, "message": f"{reason.message} {details}".strip()}

    def _other_findings(self, cleaned: dict[str, Any]) -> Iterator[dict[str, str]]:
        for row in range(OTHER_ROWS):
            finding = {part: cleaned.get(f"other_{part}_{row}", "") for part in ("field", "message", "hint")}
            if any(finding.values()):
                yield {"code": OTHER, **finding}


class CheckedForm(ModelForm):
    """The base of forms whose row a service validates."""

    # Raises InvalidInput for a row that is not valid.
    check: ClassVar[Callable[[Any], None]]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            with problems_as_form_errors(self):
                type(self).check(construct_instance(self, copy(self.instance)))
        return cleaned


class CategoryForm(CheckedForm):
    """A category."""

    check = check_category

    class Meta:
        model = Category
        fields = ("slug", "name", "description", "icon", "sort_order", "metadata", "is_active")

    def clean_metadata(self) -> Any:
        """Return the metadata, an empty object if nothing was entered."""
        metadata = self.cleaned_data["metadata"]
        return {} if metadata is None else metadata


class SynonymForm(CheckedForm):
    """A synonym."""

    check = check_synonym

    class Meta:
        model = SearchSynonym
        fields = ("word", "synonyms", "is_active")
        help_texts = {
            "word": "A word that people search for, such as music. It can't be changed later.",
            "synonyms": "Words that are also searched for if that word finds little, such as: loops sounds.",
            "is_active": "Whether searches use it.",
        }


class RejectionReasonForm(CheckedForm):
    """A rejection reason."""

    check = check_reason

    class Meta:
        model = RejectionReason
        fields = ("code", "field", "message", "hint", "is_active")
        help_texts = {
            "code": "Code for programs, such as preview_poor. It can't be changed later.",
            "field": "The listing's field by its name in the API, such as shortDescription; empty for the whole listing.",
            "message": "What is wrong, as shown to the vendor.",
            "hint": "What the vendor should do.",
            "is_active": "Whether reviewers can choose it. Existing findings keep their text.",
        }
