"""Colour looks as numbers: their tables and their pictures are made from the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """What a look does to a picture.

    Args:
        lift: How much lighter the blacks become.
        warmth: How far red and blue part.
        strength: What becomes of the saturation.
    """

    lift: float
    warmth: float
    strength: float

    def tuned(self, red: float, green: float, blue: float) -> tuple[float, float, float]:
        """Return the colour that another one becomes, each part from 0 to 1."""
        grey = (red + green + blue) / 3
        first, second, third = (grey + (part - grey) * self.strength + self.lift for part in (red, green, blue))
        return _bounded(first + self.warmth), _bounded(second), _bounded(third - self.warmth)


def _bounded(part: float) -> float:
    return min(max(part, 0.0), 1.0)
