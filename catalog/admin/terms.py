"""The forms of licence tiers and their terms."""

from typing import Any

from django import forms

from marketplace.ui.forms import Prose

from .. import bounds
from ..models import LicenseTerms, LicenseTier
from ..services.taxonomy import check_terms, check_tier
from ..uses import UNITS, Use, UsePermission, UseTerms
from .forms import CheckedForm

_PARTS = ("permission", "quantity", "clause")


class LicenseTierForm(CheckedForm):
    """A licence tier."""

    check = check_tier

    class Meta:
        model = LicenseTier
        fields = ("slug", "name", "summary", "price_factor", "sort_order", "is_active")
        help_texts = {"is_active": "Whether it can be bought. Leave this off until its terms are published."}


class LicenseTermsForm(CheckedForm):
    """New terms: the text, and what it says about each use."""

    check = check_terms

    class Meta:
        model = LicenseTerms
        fields = ("tier", "text")
        field_classes = {"text": Prose}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for use in Use:
            choices = [choice for choice in UsePermission.choices if use in UNITS or choice[0] != UsePermission.UP_TO]
            self.fields[f"{use}_permission"] = forms.ChoiceField(label="The terms say", choices=choices, initial=UsePermission.UNSPECIFIED)
            if use in UNITS:
                self.fields[f"{use}_quantity"] = forms.IntegerField(
                    label=f"Up to ({UNITS[use]})", min_value=1, max_value=bounds.MAX_USE_QUANTITY, required=False
                )
            self.fields[f"{use}_clause"] = Prose(
                label="Clause",
                help_text="The passage of the text that says so, copied from it.",
                max_length=bounds.CLAUSE_CHARS,
                required=False,
                rows=2,
            )

    @staticmethod
    def field_names_of(use: Use) -> list[str]:
        """Return the names of the fields about a use."""
        return [f"{use}_{part}" for part in _PARTS if part != "quantity" or use in UNITS]

    @staticmethod
    def initial_of(terms: LicenseTerms) -> dict[str, Any]:
        """Return the values of the form for terms like these."""
        said = {use: UseTerms.of(terms.permissions, use) for use in Use}
        uses = {f"{use}_{part}": getattr(said[use], part) for use in Use for part in _PARTS}
        return {"tier": terms.tier_id, "text": terms.text, **uses}

    def clean_text(self) -> str:
        """Return the text with the line breaks of a text file."""
        return str(self.cleaned_data["text"]).replace("\r\n", "\n")

    def clean(self) -> dict[str, Any]:
        """Collect what is said about the uses."""
        self.instance.permissions = {
            use.value: {part: self.cleaned_data.get(f"{use}_{part}") for part in _PARTS}
            for use in Use
            if self.cleaned_data.get(f"{use}_permission", UsePermission.UNSPECIFIED) != UsePermission.UNSPECIFIED
        }
        return super().clean()
