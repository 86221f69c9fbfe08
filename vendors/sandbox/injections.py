"""Known patterns of prompt injection in the texts of a skill: warnings for reviewers, who decide."""

import re
from typing import NamedTuple


class Pattern(NamedTuple):
    """What to look for, and the code of the warning."""

    code: str
    pattern: re.Pattern[str]


PATTERNS = (
    # Tags, zero-width characters, and those that change the direction of text. A byte order mark at the start is dropped before.
    Pattern("hidden_unicode", re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")),
    Pattern(
        "overrides_instructions",
        re.compile(
            r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|preceding|system)\s+"
            r"(?:\w+\s+){0,2}(?:instructions?|prompts?|rules|messages?)\b",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "hides_from_user",
        re.compile(r"\b(?:do\s+not|don['\u2019]t|never)\s+(?:tell|inform|show|mention)\s+(?:\w+\s+){0,3}user\b", re.IGNORECASE),
    ),
    Pattern(
        "sends_secrets",
        re.compile(
            r"\b(?:send|post|upload|exfiltrate|transmit|curl|wget)\b[^\n]{0,120}"
            r"(?:\.env\b|\.ssh\b|id_rsa|api[ _-]?keys?|credentials?|passwords?|secrets?|tokens?)[^\n]{0,120}https?://",
            re.IGNORECASE,
        ),
    ),
    Pattern("download_to_shell", re.compile(r"\b(?:curl|wget)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b", re.IGNORECASE)),
    Pattern(
        "encoded_to_shell", re.compile(r"\bbase64\s+(?:-d|-D|--decode)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?)\b")
    ),
    Pattern(
        "hidden_comment",
        re.compile(
            r"<!--(?:(?!-->).){0,1000}?(?<![\w-])(?:assistant|agent|ignore|you\s+must|instructions?|run|execute|system\s+prompt)(?![\w-])",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
)


def codes_in(text: str) -> list[str]:
    """Return the codes of the patterns that a text contains."""
    return [one.code for one in PATTERNS if one.pattern.search(text)]
