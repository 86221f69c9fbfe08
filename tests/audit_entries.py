"""Compares each audit entry that a test causes with the table in the documentation."""

import re
from functools import cache
from typing import Any

from marketplace.core.models import AuditEntry
from marketplace.web import docs

_ROW = re.compile(r"^\| `(\S+)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)


@cache
def documented() -> dict[str, tuple[set[str], set[str]]]:
    """Return the details that entries of an action have, and those that they may have; `*.claim` stands for a claim of anything."""
    rows = _ROW.findall(docs.documents()["audit-log"].text)
    possible = {action: (set(re.findall(r"`(\w+)`", text)), set(re.findall(r"\[`(\w+)`\]", text))) for action, text in rows}
    return {action: (names - optional, names) for action, (names, optional) in possible.items()}


def check_entry(instance: AuditEntry, **_: Any) -> None:
    """Refuse an entry of another action, or with other details; its reason is one of them."""
    action, details = instance.action, {*instance.data, *(("reason",) if instance.reason else ())}
    row = documented().get(action) or documented().get(f"*.{action.partition('.')[2]}")
    assert row is not None, f"docs/audit-log.md lacks {action}"
    assert row[0] <= details <= row[1], f"{action} has other details: {sorted(details)}"
