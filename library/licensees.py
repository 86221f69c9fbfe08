"""Licensees: whom a licence is for, if someone else pays."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Licensee:
    """A person or an organisation, and the address that its claim link is sent to."""

    name: str
    email: str

    def __post_init__(self) -> None:
        """Keep the address in lower case, as those of accounts."""
        object.__setattr__(self, "email", self.email.lower())

    def __str__(self) -> str:
        return f"{self.name} ({self.email})"
