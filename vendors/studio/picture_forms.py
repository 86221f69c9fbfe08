"""Forms about gallery images. They check the shape of the input; services check the rules."""

import uuid
from typing import Any

from django import forms

from catalog import bounds

from ..services.editing import value_hash
from .fields import LineField, SeenForm


class AltTextField(LineField):
    """One line of text, typed into a multi-line box: line breaks become spaces."""

    def to_python(self, value: Any) -> str:
        return " ".join(str(super().to_python(value)).split())


class AltTextForm(SeenForm):
    """Sets the alternative text of an image; each image on the page has a form of its own."""

    alt_text = AltTextField(
        label="Description (alternative text)",
        max_length=bounds.ALT_TEXT_CHARS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, data: Any = None, *, preview_id: uuid.UUID, alt_text: str = "") -> None:
        super().__init__(data, auto_id=f"{preview_id}-%s", initial={"alt_text": alt_text, "seen": value_hash(alt_text)})

    def show_conflict(self, alt_text: str) -> None:
        """Add an error with the text that was saved elsewhere, and mark it as seen."""
        self.add_error("alt_text", f"It was changed to “{alt_text or 'nothing'}” in the meantime. Save again to replace it with yours.")
        self.mark_seen(value_hash(alt_text))


class MoveForm(forms.Form):
    """Moves an image to another slot."""

    slot = forms.IntegerField(min_value=0, max_value=bounds.GALLERY_SLOTS - 1)
