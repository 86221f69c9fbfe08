"""Decisions: admin actions with a page of their own that explains the consequences, asks for a reason and calls a service."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from django import forms
from django.http import HttpRequest, HttpResponse

from marketplace.core import bounds

from .panels import QuerySets

if TYPE_CHECKING:
    from .service import ServiceAdmin

Perform = Callable[[Any, Any, Any, Mapping[str, Any]], object]


class DecisionForm(forms.Form):
    """Base of what a decision asks for; it knows what is decided on.

    Args:
        subject: The row.
        related: The rows of `querysets`, where the page has read them together with its own.
    """

    def __init__(self, *args: Any, subject: Any, related: QuerySets | None = None, **kwargs: Any) -> None:
        self.subject = subject
        self.related = self.querysets(subject) if related is None else related
        super().__init__(*args, **kwargs)

    @classmethod
    def querysets(cls, _subject: Any) -> QuerySets:
        """Return what the fields offer of other tables, by name."""
        return {}


class ReasonForm(DecisionForm):
    """The words that go into the audit log, and into the mail where there is one."""

    reason = forms.CharField(max_length=bounds.REASON_CHARS, widget=forms.Textarea(attrs={"rows": 4}))


class NoForm(DecisionForm):
    """A step that needs no words, such as a claim."""


@dataclass(frozen=True)
class Decision:
    """What a decision page says and asks.

    Args:
        label: The button.
        permission: What the user needs, `app.codename`.
        consequence: What will happen, in a sentence.
        done: What the message says afterwards.
        form: What is asked.
        available: Whether the state allows it; the service judges again under its lock.
        template: The page.
        danger: Whether it takes something away.
        effects: Returns what the decision will affect, counted for this row: how many keys stop, how many buyers there are.
        context: What else the page shows of the row.
        fields: The template of its fields, where they are more than a column.
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
    fields: str = ""


def decision(settings: Decision) -> Callable[[Perform], Any]:
    """Turn `perform(self, subject, actor, answers)` into a decision page that the row's page links."""

    def decorate(perform: Perform) -> Any:
        @wraps(perform)
        def view(model_admin: "ServiceAdmin", request: HttpRequest, object_id: str) -> HttpResponse:
            return model_admin.decide(request, object_id, settings, perform)

        view.decision = settings  # type: ignore[attr-defined]  # how its admin knows it
        return view

    return decorate


def service_decision(settings: Decision, service: Callable[..., object], subject: str, answers: Sequence[str] = ("reason",)) -> Any:
    """Return a decision page that calls a service.

    Args:
        settings: What the page says and asks.
        service: The service that decides; it also takes the `actor`.
        subject: The service's name for the row.
        answers: The fields of the form that the service takes.
    """

    def perform(_admin: Any, row: Any, actor: Any, given: Mapping[str, Any]) -> None:
        service(**{subject: row}, **{name: given[name] for name in answers}, actor=actor)

    return decision(settings)(perform)


@dataclass(frozen=True)
class Button:
    """The way from a row's page to one about a decision.

    Args:
        label: What it says.
        address: Where it leads.
        danger: Whether it takes something away.
    """

    label: str
    address: str
    danger: bool


@dataclass(frozen=True)
class Step:
    """A decision on the page of the row that it is about.

    Args:
        name: Its method.
        decision: What it says and asks.
        form: Its fields.
        address: Where they are sent.
        key: The key that leads to them.
        effects: What will happen to this row.
    """

    name: str
    decision: Decision
    form: DecisionForm
    address: str
    key: str
    effects: Sequence[str]


CLAIMING = ("claim", "take_over", "release")


def claiming(permission: str, waits: Callable[[Any], bool]) -> tuple[Any, Any, Any]:
    """Return the steps `claim`, `take_over` and `release` of a queue whose rows are decided on with this permission."""

    def claim(queue: Any, row: Any, actor: Any, answers: Mapping[str, Any]) -> None:
        queue.claim_row(row, actor)

    def take_over(queue: Any, row: Any, actor: Any, answers: Mapping[str, Any]) -> None:
        queue.claim_row(row, actor, take_over=True)

    def release(queue: Any, row: Any, actor: Any, answers: Mapping[str, Any]) -> None:
        queue.release_row(row, actor)

    words = (
        (claim, "Claim", "Other reviewers see that you are working on it.", "You have claimed it."),
        (
            take_over,
            "Take over",
            "Someone else has claimed it. Their claim is replaced by yours.",
            "You have claimed it.",
        ),
        (release, "Release", "Your claim is removed, so that others can review it.", "Your claim was released."),
    )
    steps = (
        decision(Decision(label, permission, consequence, done, NoForm, waits))(perform) for perform, label, consequence, done in words
    )
    return tuple(steps)
