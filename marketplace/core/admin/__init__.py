"""The ground that every admin page is built on."""

from .decisions import Decision, DecisionForm, NoForm, ReasonForm, decision
from .log import AuditEntryAdmin
from .panels import Panel, history_panel
from .queues import QueueAdmin
from .service import Base, ServiceAdmin, staff_of

__all__ = [
    "AuditEntryAdmin",
    "Base",
    "Decision",
    "DecisionForm",
    "NoForm",
    "Panel",
    "QueueAdmin",
    "ReasonForm",
    "ServiceAdmin",
    "decision",
    "history_panel",
    "staff_of",
]
