"""Forms of refund requests."""

from django import forms

from marketplace.ui.forms import Prose
from wallet.models.refund_requests import RefundReason


class RefundForm(forms.Form):
    """Asks for the reason of a request."""

    reason = forms.ChoiceField(label="What is wrong?", choices=RefundReason.choices, widget=forms.RadioSelect)
    details = Prose(label="Details", required=False, help_text="The vendor reads this, and our staff if they have to decide.")


class EscalationForm(forms.Form):
    """Asks why the buyer does not accept the vendor's answer."""

    reason = Prose(label="Why should it be refunded?", help_text="Our staff and the vendor read this. You can ask once.")


class DeclineForm(forms.Form):
    """Asks why the vendor declines."""

    reason = Prose(label="Why do you decline?", help_text="The buyer reads this, and our staff if they have to decide.")
