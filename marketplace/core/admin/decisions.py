"""Decisions: what a page about one says, asks and does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from django import forms
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminTextareaWidget

from .. import bounds

if TYPE_CHECKING:
    from .service import ServiceAdmin

Perform = Callable[[Any, Any, Any, Mapping[str, Any]], object]


class DecisionForm(forms.Form):
    """Base of what a decision asks for; it knows what is decided on."""

    def __init__(self, *args: Any, subject: Any, **kwargs: Any) -> None:
        self.subject = subject
        super().__init__(*args, **kwargs)


class ReasonForm(DecisionForm):
    """The words that go into the audit log, and into the mail where there is one."""

    reason = forms.CharField(max_length=bounds.REASON_CHARS, widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}))


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
        variant: The button's look.
    """

    label: str
    permission: str
    consequence: str
    done: str
    form: type[DecisionForm] = ReasonForm
    available: Callable[[Any], bool] = lambda _subject: True
    template: str = "admin/decisions/decision.html"
    variant: ActionVariant = ActionVariant.DEFAULT


def decision(settings: Decision) -> Callable[[Perform], Any]:
    """Turn `perform(self, subject, actor, answers)` into a decision page that the theme links from the row's page."""

    def decorate(perform: Perform) -> Any:
        @wraps(perform)
        def view(model_admin: "ServiceAdmin", request: HttpRequest, object_id: str) -> HttpResponse:
            return model_admin.decide(request, object_id, settings, perform)

        # The theme hides the button by this and checks it again; `decide` does not rely on either.
        page = action(
            permissions=[settings.permission],
            description=settings.label,
            url_path=perform.__name__.replace("_", "-"),
            variant=settings.variant,
        )(view)
        page.decision = settings
        return page

    return decorate
