"""The shapes of the forms about a gallery's pictures; the rules are the services'."""

import uuid
from typing import Any

from django import forms

from marketplace.core import bounds

from .fields import LineField


class WordsField(LineField):
    """One line that is typed into a box of several: a line break in it is a space."""

    def to_python(self, value: Any) -> str:
        """Return the words with a space between them."""
        return " ".join(str(super().to_python(value)).split())


class WordsForm(forms.Form):
    """Says what a picture shows.

    Args:
        data: What was sent, if anything was.
        preview_id: The picture: each on the page has a form of its own.
        alt_text: What is said so far.
    """

    alt_text = WordsField(
        label="What it shows",
        max_length=bounds.ALT_TEXT_CHARS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, data: Any = None, *, preview_id: uuid.UUID, alt_text: str = "") -> None:
        super().__init__(data, auto_id=f"{preview_id}-%s", initial={"alt_text": alt_text})


class MoveForm(forms.Form):
    """Says where a picture goes."""

    slot = forms.IntegerField(min_value=0, max_value=bounds.GALLERY_SLOTS - 1)
