"""Forms of refund requests."""

from django import forms

from marketplace.core import bounds
from wallet.models.refund_requests import RefundReason


class RefundForm(forms.Form):
    """Asks for the reason of a request."""

    reason = forms.ChoiceField(label="What is wrong?", choices=RefundReason.choices, widget=forms.RadioSelect)
    details = forms.CharField(
        label="Details",
        required=False,
        max_length=bounds.REASON_CHARS,
        help_text="The vendor reads this, and our staff if they have to decide.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )


class EscalationForm(forms.Form):
    """Asks why the buyer does not accept the vendor's answer."""

    reason = forms.CharField(
        label="Why should it be refunded?",
        max_length=bounds.REASON_CHARS,
        help_text="Our staff and the vendor read this. You can ask once.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )


class DeclineForm(forms.Form):
    """Asks why the vendor declines."""

    reason = forms.CharField(
        label="Why do you decline?",
        max_length=bounds.REASON_CHARS,
        help_text="The buyer reads this, and our staff if they have to decide.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
