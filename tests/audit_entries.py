"""Compares each audit entry that a test causes with the table in the documentation."""

import re
from functools import cache
from typing import Any, NamedTuple

from marketplace.core.models import AuditEntry
from marketplace.web import docs

_ROW = re.compile(r"^\| `(\S+)` \|[^|]*\|([^|]*)\| (yes|no|may) \|$", re.MULTILINE)


class Documented(NamedTuple):
    """What the documentation says of an action."""

    required: set[str]
    optional: set[str]
    reason: str


@cache
def documented() -> dict[str, Documented]:
    """Return the rows of the table by their actions; `*.claim` stands for a claim of anything."""
    rows = _ROW.findall(docs.documents()["audit-log"].text)
    details = {action: set(re.findall(r"\[`(\w+)`\]", text)) for action, text, _ in rows}
    return {
        action: Documented(set(re.findall(r"`(\w+)`", text)) - details[action], details[action], reason) for action, text, reason in rows
    }


def check_entry(instance: AuditEntry, **_: Any) -> None:
    """Refuse an entry with another action, other details, or a reason where there is none, or none where there is one."""
    action = instance.action
    row = documented().get(action) or documented().get(f"*.{action.partition('.')[2]}")
    assert row is not None, f"docs/audit-log.md lacks {action}"
    assert row.required <= instance.data.keys() <= row.required | row.optional, f"{action} has other details: {sorted(instance.data)}"
    assert row.reason == "may" or bool(instance.reason) == (row.reason == "yes"), f"{action}: reason {instance.reason!r}"
