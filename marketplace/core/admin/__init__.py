"""The ground that every admin page is built on."""

from ..admin_base import Base
from .decisions import CLAIMING, Decision, DecisionForm, NoForm, ReasonForm, claiming, decision, service_decision
from .finding import Words, begins
from .log import AuditEntryAdmin
from .panels import Panel, history
from .queues import QueueAdmin
from .ready import ready_form
from .service import ServiceAdmin, staff_of

__all__ = [
    "CLAIMING",
    "AuditEntryAdmin",
    "Base",
    "Decision",
    "DecisionForm",
    "NoForm",
    "Panel",
    "QueueAdmin",
    "ReasonForm",
    "ServiceAdmin",
    "Words",
    "begins",
    "claiming",
    "decision",
    "history",
    "ready_form",
    "service_decision",
    "staff_of",
]
