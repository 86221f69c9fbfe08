"""The shapes of the vendor's forms; the rules are the services'."""

from django import forms

from catalog.models.listings import ListingStatus
from marketplace.core import bounds


class FilterForm(forms.Form):
    """Says which of the vendor's listings are shown."""

    q = forms.CharField(label="Search", max_length=bounds.SEARCH_QUERY_CHARS, required=False)
    status = forms.ChoiceField(label="Status", choices=[("", "All"), *ListingStatus.choices], required=False)
    after = forms.UUIDField(required=False)
