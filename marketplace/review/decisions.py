"""Decisions: admin actions on a separate page that explains the effects, asks for a reason and calls a service."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any

from django import forms
from django.http import HttpRequest, HttpResponse

from marketplace.ui.forms import Prose

if TYPE_CHECKING:
    from .service import ServiceAdmin

Perform = Callable[[Any, Any, Any, Mapping[str, Any]], object]


class DecisionForm(forms.Form):
    """The form of a decision on a row, `subject`; by itself of one without a reason, such as a claim."""

    def __init__(self, *args: Any, subject: Any, **kwargs: Any) -> None:
        self.subject = subject
        super().__init__(*args, **kwargs)


class ReasonForm(DecisionForm):
    """The reason for a decision, recorded in the audit log and sent in the mail if there is one."""

    reason = Prose()


@dataclass(frozen=True)
class Decision:
    """The texts and the form of a decision page.

    Args:
        label: The text of the button.
        permission: The required permission, `app.codename`.
        consequence: A sentence that says what will happen.
        done: The success message.
        form: The form class.
        available: Whether the row's state allows it; the service checks again under its lock.
        template: The page.
        danger: Whether it is destructive.
        effects: Returns sentences about the effects on this row, such as the number of keys that stop working.
        context: Returns additional template context.
        fields_template: A template that renders the form's fields; by default one below another.
    """

    label: str
    permission: str
    consequence: str
    done: str
    form: type[DecisionForm] = ReasonForm
    available: Callable[[Any], bool] = lambda _subject: True
    template: str = "admin/decisions/decision.html"
    danger: bool = False
    effects: Callable[[Any], Sequence[str]] = lambda _subject: ()
    context: Callable[[Any], Mapping[str, Any]] = lambda _subject: {}
    fields_template: str = ""


def decision(options: Decision) -> Callable[[Perform], Any]:
    """Turn `perform(self, subject, actor, cleaned_data)` into a decision page, linked from the row's page."""

    def decorate(perform: Perform) -> Any:
        @wraps(perform)
        def view(model_admin: "ServiceAdmin", request: HttpRequest, object_id: str) -> HttpResponse:
            return model_admin.decide(request, object_id, options, perform)

        view.decision = options  # type: ignore[attr-defined]  # how its admin knows it
        return view

    return decorate


def service_decision(options: Decision, service: Callable[..., object], argument: str, fields: Sequence[str] | None = None) -> Any:
    """Return a decision page that calls a service.

    Args:
        options: The texts and the form of the page.
        service: The service to call; it also takes the `actor`.
        argument: The service's argument for the row.
        fields: The form fields that are passed to the service; by default all.
    """

    def perform(_admin: Any, row: Any, actor: Any, given: Mapping[str, Any]) -> None:
        service(**{argument: row}, **{name: given[name] for name in (given if fields is None else fields)}, actor=actor)

    return decision(options)(perform)


@dataclass(frozen=True)
class LastDecision:
    """The last decision on a row: what, when, by whom (None for the service itself), and why."""

    what: str
    at: datetime
    actor: Any
    reason: str


@dataclass(frozen=True)
class Button:
    """A link from a row's page to a decision page."""

    label: str
    address: str
    danger: bool


CLAIMING = ("claim", "take_over", "release")


def claiming(permission: str, waits: Callable[[Any], bool]) -> tuple[Any, Any, Any]:
    """Return the decisions `claim`, `take_over` and `release` of a queue whose rows are decided on with this permission."""
    claim = Decision("Claim", permission, "Other reviewers see that you are working on it.", "You have claimed it.", DecisionForm, waits)
    take_over = replace(claim, label="Take over", consequence="Someone else has claimed it. Their claim is replaced by yours.")
    release = Decision(
        "Release", permission, "Your claim is removed, so that others can review it.", "Your claim was released.", DecisionForm, waits
    )
    return (
        decision(claim)(lambda queue, row, actor, _given: queue.claim_row(row, actor)),
        decision(take_over)(lambda queue, row, actor, _given: queue.claim_row(row, actor, take_over=True)),
        decision(release)(lambda queue, row, actor, _given: queue.release_row(row, actor)),
    )
