"""Licensees: whom a licence is for, if someone else pays."""

from dataclasses import dataclass
from typing import Protocol


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


class ForLicensee(Protocol):
    """A row with a licensee, empty if its owner is the licensee."""

    licensee_name: str
    licensee_email: str


def licensee_of(row: ForLicensee) -> Licensee | None:
    """Return the licensee of a quote or licence, None if it is for its owner."""
    return Licensee(row.licensee_name, row.licensee_email) if row.licensee_email else None
