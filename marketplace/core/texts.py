"""Validation of free text from users, shared by forms, request bodies and commands."""

import re

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from . import bounds
from .errors import InvalidInput

# Sets of characters for patterns that mean the same in Python and in ECMA-262, whose `\s` differ. `str.strip` removes the first of them.
WHITE_SPACE = r"\t-\r\u001C-\u0020\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000"
CONTROL = r"\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F"
# Also line breaks and bidirectional controls, which would rearrange the text around a name.
NOT_IN_A_LINE = rf"{CONTROL}\n\r\t\u0080-\u009F\u2028-\u202E\u2066-\u2069"
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Links that other users follow: http and https only.
_validate_web_address = URLValidator(schemes=["http", "https"])


def clean_text(value: str, field: str, *, required: bool = True) -> str:
    """Return trimmed text of several lines.

    Raises:
        InvalidInput: it is required but has no visible character, is too long, or has control characters.
    """
    text = value.strip()
    if required and not any(char.isprintable() and not char.isspace() for char in text):
        raise invalid(field, "blank", "It must not be empty.")
    if len(text) > bounds.REASON_CHARS:
        raise invalid(field, "max_length", f"At most {bounds.REASON_CHARS} characters.")
    if re.search(f"[{CONTROL}]", text):
        raise invalid(field, "control_characters", "Control characters are not allowed.")
    return text


def clean_line(value: str, field: str, *, maximum: int = bounds.NAME_CHARS, required: bool = True) -> str:
    """Return trimmed text of one line.

    Raises:
        InvalidInput: as for `clean_text`, or it has line breaks, tabs, or other characters that `NOT_IN_A_LINE` matches.
    """
    text = clean_text(value, field, required=required)
    if len(text) > maximum:
        raise invalid(field, "max_length", f"At most {maximum} characters.")
    if re.search(f"[{NOT_IN_A_LINE}]", text):
        raise invalid(field, "control_characters", "Use one line without tabs, control characters or text direction characters.")
    return text


def clean_web_address(value: str, field: str) -> str:
    """Return a trimmed http(s) address; it may be empty.

    Raises:
        InvalidInput: it is not such an address, or too long.
    """
    text = clean_line(value, field, maximum=bounds.URL_CHARS, required=False)
    if text:
        try:
            _validate_web_address(text)
        except ValidationError as error:
            raise invalid(field, "invalid", "Enter an address that starts with https:// or http://.") from error
    return text


def invalid(field: str, code: str, detail: str) -> InvalidInput:
    """Return the problem for one invalid field."""
    return InvalidInput(f"{field}: {detail}", errors=[{"pointer": f"#/{field}", "code": code, "detail": detail}])
