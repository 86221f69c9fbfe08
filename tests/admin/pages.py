"""Uses the admin through its pages: opens one, fills in its form, presses the button."""

from collections.abc import Mapping
from typing import Any

from bs4 import BeautifulSoup, Tag
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from marketplace.accounts.models import User
from marketplace.review.service import ServiceAdmin
from tests.factories import UserFactory


def staff(*permissions: str) -> User:
    """Return a staff user with these permissions, `app.codename`."""
    user: User = UserFactory(is_staff=True)
    named = Permission.objects.filter(codename__in=[permission.partition(".")[2] for permission in permissions])
    found = {f"{each.content_type.app_label}.{each.codename}": each for each in named.select_related("content_type")}
    user.user_permissions.set([found[permission] for permission in permissions])
    return user


def service_admins() -> list[ServiceAdmin]:
    return [model_admin for model_admin in admin.site._registry.values() if isinstance(model_admin, ServiceAdmin)]


def address(model: type[Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def text_of(response: Any) -> str:
    return " ".join(BeautifulSoup(response.content, "html.parser").get_text(" ").split())


def fill(form: Tag, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a browser would send: what stands in the form, and the answers; each answer's field must be there."""
    sent: dict[str, Any] = {}
    names = set()
    for field in form.find_all(["input", "textarea", "select"]):
        name, kind = str(field.get("name")), field.get("type")
        assert kind in {"radio", "checkbox"} or name not in names, f"{name} is there twice"
        names.add(name)
        if field.name == "select":
            chosen = field.find("option", selected=True) or field.find("option")
            sent[name] = chosen["value"] if isinstance(chosen, Tag) else ""
        elif kind not in {"radio", "checkbox"} or field.has_attr("checked"):
            sent[name] = field.get("value", "") if field.name == "input" else field.get_text()
    assert set(answers) <= names, f"no such field: {set(answers) - names}"
    return sent | dict(answers)


def press(client: Client, page: str, answers: Mapping[str, Any], *, action: str = "") -> Any:
    """Open a page, fill in its form (the one that posts to `action`, or the decision's) and send it, following redirects."""
    response = client.get(page)
    assert response.status_code == 200, response.status_code
    soup = BeautifulSoup(response.content, "html.parser")
    form = soup.select_one(f'form[action="{action}"]' if action else ".decision form")
    assert form is not None, text_of(response)
    return client.post(action or page, fill(form, answers), follow=True)
