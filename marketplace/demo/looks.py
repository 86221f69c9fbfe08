"""Colour looks as numbers, from which both their tables and their pictures are made."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """What a look does to a picture.

    Args:
        lift: How much lighter the blacks become.
        warmth: How much is added to red and taken from blue.
        strength: The factor of the saturation.
    """

    lift: float
    warmth: float
    strength: float

    def tuned(self, red: float, green: float, blue: float) -> tuple[float, float, float]:
        """Return the colour that a colour becomes, each part from 0 to 1."""
        grey = (red + green + blue) / 3
        first, second, third = (grey + (part - grey) * self.strength + self.lift for part in (red, green, blue))
        return _bounded(first + self.warmth), _bounded(second), _bounded(third - self.warmth)


def _bounded(part: float) -> float:
    return min(max(part, 0.0), 1.0)
