"""Forms about webhooks. They check the shape of the input; services check the rules."""

from datetime import timedelta

from django import forms

from marketplace.core import bounds
from marketplace.http import outbound

from ..event_types import EventType

_OVERLAPS = ((0, "At once"), (24, "In a day"), (7 * 24, "In a week"))


def _hours(typed: str) -> timedelta:
    return timedelta(hours=int(typed))


class EndpointForm(forms.Form):
    """Describes an endpoint: its address and its events."""

    url = forms.CharField(
        label="Address",
        max_length=bounds.URL_CHARS,
        help_text="An https address on the public internet that accepts POST requests.",
        widget=forms.URLInput(attrs={"placeholder": "https://app.example/webhooks", "autocomplete": "off"}),
    )
    description = forms.CharField(label="Description", max_length=bounds.NAME_CHARS, required=False, help_text="For your own reference.")
    events = forms.MultipleChoiceField(
        label="Events",
        choices=EventType.choices,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )

    def clean_url(self) -> str:
        """Refuse an address that would not be called, without a request to it."""
        url: str = self.cleaned_data["url"]
        try:
            outbound.check_url(url)
        except outbound.Refused as refusal:
            raise forms.ValidationError(str(refusal)) from refusal
        return url


class RotateSecretForm(forms.Form):
    """Asks how long the old secret stays valid."""

    overlap = forms.TypedChoiceField(label="The old secret ends", choices=_OVERLAPS, coerce=_hours, initial=24)
