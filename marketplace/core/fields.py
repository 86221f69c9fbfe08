"""Model fields."""

from typing import TYPE_CHECKING, Any

from django.db import models

from .encryption import DecryptionFailed, decrypt, encrypt

if TYPE_CHECKING:
    Text = models.TextField[str, str]
else:
    Text = models.TextField

UNREADABLE = "It cannot be decrypted: its key is gone."


class EncryptedTextField(Text):
    """Text that is encrypted in the database, to be decrypted for the same purpose only; an empty one is stored as it is."""

    def __init__(self, *args: Any, purpose: str = "", **kwargs: Any) -> None:
        self.purpose = purpose
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, path, args, kwargs = super().deconstruct()
        return name, path, list(args), {**kwargs, "purpose": self.purpose}

    def get_prep_value(self, value: Any) -> Any:
        text = super().get_prep_value(value)
        return encrypt(text, purpose=self.purpose) if text else text

    def from_db_value(self, value: str | None, _expression: Any, _connection: Any) -> str | None:
        """Return the decrypted text, or a sentence if its key is gone."""
        if not value:
            return value
        try:
            return decrypt(value, purpose=self.purpose)
        except DecryptionFailed:
            return UNREADABLE
