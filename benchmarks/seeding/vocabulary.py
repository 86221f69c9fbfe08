"""Words for made-up listings: terms of the trade, and thousands of invented names, of which the first are the most frequent."""

import itertools
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


def _words(text: str) -> list[str]:
    return text.split()


NAMES = 60_000
# How steeply frequency falls with rank. Natural text is near 1; names are a little flatter.
WORDS_EXPONENT = 1.0
NAMES_EXPONENT = 0.85

_ONSETS = _words("b br c cl d dr f fl g gl gr h j k kr l m n p pr qu r s sk sl st t tr v w y z th sh")
_VOWELS = _words("a e i o u ae ia eo ou y")
_CODAS = ["", "", "", "l", "n", "r", "s", "x", "ra", "na", "th", "nd", "rk", "lle", "tto", "mont", "ville", "field"]

STYLES = _words(
    "modern minimal bold vintage neon clean rounded elegant retro handmade dynamic soft cinematic geometric condensed playful dark light "
    "organic grunge luxury futuristic editorial brutalist pastel vivid moody analog monochrome glossy fluid kinetic warm cold natural "
    "urban classic wild gentle sharp"
)
NOUNS = {
    "fonts": _words(
        "grotesk serif sans script display mono slab typeface family variable condensed italic stencil blackletter brush handwriting "
        "antiqua gothic text rounded"
    ),
    "motion": _words(
        "titles transitions lower thirds loop overlay intro opener glitch particles logo reveal countdown shapes callouts slideshow light "
        "leaks captions ticker background"
    ),
    "templates": _words(
        "brochure presentation resume portfolio newsletter invoice poster flyer magazine story kit landing page dashboard wireframe "
        "menu invitation calendar planner report"
    ),
    "presets": _words(
        "lightroom preset lut film grade portrait landscape wedding street tone pack synth reverb drum vocal ambient pad bass master "
        "color grain"
    ),
    "ai-skills": _words(
        "agent prompt workflow assistant summarizer reviewer translator extractor planner analyst copywriter researcher tester parser "
        "classifier coach scheduler generator notebook toolkit"
    ),
}
TAGS = _words(
    "branding logo wedding poster social instagram youtube podcast packaging web print app ui ux icons business food travel fashion "
    "music gaming sport education health nature winter summer halloween christmas birthday minimal vintage bold modern handmade "
    "cinematic corporate startup magazine editorial children technology abstract texture gradient dark light kinetic typography "
    "multilingual cyrillic japanese ligatures variable free-update 4k vertical square seamless loop broadcast documentary portrait "
    "landscape analog film moody clean agent automation writing coding research"
)
FILLER = _words(
    "made for with and every set includes files ready to use in your next project carefully crafted details simple setup documentation "
    "support updates works well across screens print video easy editable layers organised clear names tested by studios teams creators "
    "designers editors who need reliable results fast"
)
FILE_TYPES = {
    "fonts": ["OTF", "TTF", "WOFF2", "Variable TTF", "OTF + WOFF2"],
    "motion": ["MOGRT", "AEP", "MP4", "Lottie JSON", "DRFX"],
    "templates": ["PSD", "INDD", "FIG", "PPTX", "IDML", "Canva"],
    "presets": ["XMP", "CUBE", "LRTEMPLATE", "FXP", "WAV"],
    "ai-skills": ["SKILL.md", "ZIP", "TAR", "JSON"],
}
PLATFORMS = {
    "fonts": ["Figma", "Adobe Illustrator", "Adobe InDesign", "Affinity Designer", "Microsoft Word"],
    "motion": ["After Effects 2023+", "Premiere Pro", "DaVinci Resolve", "Final Cut Pro", "CapCut"],
    "templates": ["Photoshop", "Figma", "InDesign", "PowerPoint", "Keynote", "Canva"],
    "presets": ["Lightroom", "Capture One", "DaVinci Resolve", "Ableton Live", "Serum"],
    "ai-skills": ["Claude", "ChatGPT", "Cursor", "VS Code"],
}


@dataclass(frozen=True)
class Zipf(Generic[T]):
    """Draws values, the first ones most frequently."""

    values: Sequence[T]
    cumulated: list[float]

    @classmethod
    def of(cls, values: Sequence[T], exponent: float = WORDS_EXPONENT) -> "Zipf[T]":
        """Return the distribution over values in the order given."""
        return cls(values, list(itertools.accumulate(1 / rank**exponent for rank in range(1, len(values) + 1))))

    def draw(self, rng: random.Random) -> T:
        """Return one value."""
        return self.values[min(bisect(self.cumulated, rng.random() * self.cumulated[-1]), len(self.values) - 1)]

    def draw_many(self, rng: random.Random, count: int) -> list[T]:
        """Return values, which may repeat."""
        return [self.draw(rng) for _ in range(count)]


def invented_names(rng: random.Random, count: int = NAMES) -> list[str]:
    """Return distinct names that can be pronounced, such as `Velmora`."""
    names: dict[str, None] = {}
    while len(names) < count:
        syllables = rng.choices((1, 2, 3), (1, 6, 3))[0]
        parts = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables)]
        name = "".join(parts) + rng.choice(_CODAS)
        if len(name) >= 4:
            names[name.capitalize()] = None
    return list(names)
