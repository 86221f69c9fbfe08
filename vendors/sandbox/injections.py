"""Known patterns of prompt injection in the texts of a skill: warnings for reviewers, who decide."""

import re

# By the code of the warning.
PATTERNS = {
    # Tags, zero-width characters, and those that change the direction of text. A byte order mark at the start is dropped before.
    "hidden_unicode": re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"),
    "overrides_instructions": re.compile(
        r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|preceding|system)\s+"
        r"(?:\w+\s+){0,2}(?:instructions?|prompts?|rules|messages?)\b",
        re.IGNORECASE,
    ),
    "hides_from_user": re.compile(
        r"\b(?:do\s+not|don['\u2019]t|never)\s+(?:tell|inform|show|mention)\s+(?:\w+\s+){0,3}user\b", re.IGNORECASE
    ),
    "sends_secrets": re.compile(
        r"\b(?:send|post|upload|exfiltrate|transmit|curl|wget)\b[^\n]{0,120}"
        r"(?:\.env\b|\.ssh\b|id_rsa|api[ _-]?keys?|credentials?|passwords?|secrets?|tokens?)[^\n]{0,120}https?://",
        re.IGNORECASE,
    ),
    "download_to_shell": re.compile(r"\b(?:curl|wget)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b", re.IGNORECASE),
    "encoded_to_shell": re.compile(r"\bbase64\s+(?:-d|-D|--decode)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?)\b"),
    "hidden_comment": re.compile(
        r"<!--(?:(?!-->).){0,1000}?(?<![\w-])(?:assistant|agent|ignore|you\s+must|instructions?|run|execute|system\s+prompt)(?![\w-])",
        re.IGNORECASE | re.DOTALL,
    ),
}


def codes_in(text: str) -> list[str]:
    """Return the codes of the patterns that a text contains."""
    return [code for code, pattern in PATTERNS.items() if pattern.search(text)]
