"""Form fields of our pages and of the admin."""

from typing import Any

from django import forms

from marketplace.core import bounds


class Prose(forms.CharField):
    """Text of several lines. A line break is one character, as the browser counts it, though it sends two."""

    def __init__(self, *, rows: int = 4, max_length: int | None = bounds.REASON_CHARS, **kwargs: Any) -> None:
        super().__init__(max_length=max_length, **{"widget": forms.Textarea(attrs={"rows": rows})} | kwargs)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")
