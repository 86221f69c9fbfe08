"""What every page behind the sign-in shares."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, cast

from django.contrib.auth.decorators import login_required
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from marketplace.core.errors import Problem

from .models import User

P = ParamSpec("P")


class SignedInRequest(HttpRequest):
    """A request whose user is signed in."""

    user: User


Page = Callable[Concatenate[SignedInRequest, P], HttpResponseBase]


def signed_in_page(*methods: str) -> Callable[[Page[P]], Callable[..., HttpResponseBase]]:
    """Let only signed-in users and these methods in (HEAD with GET), and keep the answer out of every cache."""

    def decorate(page: Page[P]) -> Callable[..., HttpResponseBase]:
        guarded = login_required(require_http_methods([*methods, "HEAD"])(cast("Callable[..., HttpResponseBase]", page)))
        return never_cache(guarded)

    return decorate


@contextmanager
def problems_beside(form: BaseForm, fields: Mapping[type[Problem], str] | None = None) -> Iterator[None]:
    """Turn a service's refusal into messages beside the form, which keeps what was typed.

    Args:
        form: What was sent.
        fields: The field that a refusal is about, where the refusal does not name it itself.
    """
    try:
        yield
    except Problem as problem:
        named = [(error["pointer"].removeprefix("#/"), error["detail"]) for error in problem.members.get("errors", ())]
        for name, detail in named or [((fields or {}).get(type(problem), ""), problem.message)]:
            form.add_error(name if name in form.fields else None, detail)


def render_form(request: HttpRequest, template: str, form: BaseForm, **context: Any) -> HttpResponse:
    """Return the page with its form: 400 when what was sent is not accepted."""
    return render(request, template, {"form": form, **context}, status=400 if form.is_bound else 200)
