"""The uses of an asset that licence terms decide on."""

from dataclasses import dataclass
from typing import Any

from django.db.models import TextChoices


class Use(TextChoices):
    """What an asset may be used for."""

    PERSONAL = "personal", "Private or educational work that earns no money"
    COMMERCIAL_PROJECT = "commercial_project", "A project that earns money"
    CLIENT_WORK = "client_work", "Work for a client"
    PRINT_RUN = "print_run", "Something that is printed"
    MERCHANDISE = "merchandise", "Products for sale"
    APP = "app", "An app, a game or a device"
    WEB_TRAFFIC = "web_traffic", "A website"
    BROADCAST = "broadcast", "Broadcast and streaming"
    TEAM = "team", "A team"
    TEMPLATE_RESALE = "template_resale", "Templates for sale that contain it"
    AI_TRAINING = "ai_training", "Training of AI models"
    REDISTRIBUTION = "redistribution", "Giving the asset itself to others"


# What is counted in a quantity; other uses have none.
UNITS = {
    Use.PRINT_RUN: "copies",
    Use.MERCHANDISE: "copies of each product",
    Use.WEB_TRAFFIC: "page views a month",
    Use.TEAM: "people",
}


class UsePermission(TextChoices):
    """What terms say about a use."""

    ALLOWED = "allowed", "Allowed"
    UP_TO = "up_to", "Allowed up to a quantity"
    FORBIDDEN = "forbidden", "Forbidden"
    UNSPECIFIED = "not_said", "Not mentioned"


class UseVerdict(TextChoices):
    """Whether a licence permits a use."""

    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class UseTerms:
    """What terms say about one use.

    Args:
        use: The use.
        permission: Whether it is permitted.
        quantity: The largest quantity, if it is permitted up to one.
        clause: The passage of the text that says so; empty where the text does not.
    """

    use: Use
    permission: UsePermission = UsePermission.UNSPECIFIED
    quantity: int | None = None
    clause: str = ""

    @classmethod
    def of(cls, permissions: dict[str, Any], use: Use) -> "UseTerms":
        """Return what the stored permissions of terms say about a use."""
        stored = permissions.get(use)
        return cls(use) if stored is None else cls(use, UsePermission(stored["permission"]), stored.get("quantity"), stored["clause"])

    def verdict_on(self, quantity: int) -> UseVerdict:
        """Return whether the use is permitted in this quantity."""
        match self.permission:
            case UsePermission.ALLOWED:
                return UseVerdict.YES
            case UsePermission.FORBIDDEN:
                return UseVerdict.NO
            case UsePermission.UP_TO:
                return UseVerdict.YES if self.quantity is not None and quantity <= self.quantity else UseVerdict.NO
            case UsePermission.UNSPECIFIED:
                return UseVerdict.UNCLEAR

    @property
    def summary(self) -> str:
        """The permission in words, such as `Allowed up to 10,000 copies`."""
        return self.permission.label if self.quantity is None else f"Allowed up to {self.quantity:,} {UNITS[self.use]}"
