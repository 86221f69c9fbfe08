"""The form that asks whether an asset may be used for something."""

from django import forms

from catalog import bounds
from catalog.uses import UNITS, Use


class RightsForm(forms.Form):
    """The use, and how much of it."""

    use = forms.ChoiceField(label="May I use this for", choices=Use.choices)
    quantity = forms.IntegerField(
        label="How much of it",
        help_text=f"{', '.join(UNITS.values()).capitalize()}. Leave it empty for other uses.",
        min_value=1,
        max_value=bounds.MAX_USE_QUANTITY,
        required=False,
    )
