"""Reads the forms of the studio's pages, as a browser would submit them, and their errors."""

from typing import Any

from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from tests.web.markup import faults_of


def form_of(client: Client, address: str) -> dict[str, Any]:
    """Return what a browser would send of the page's form as it stands."""
    page = BeautifulSoup(client.get(address).content, "html.parser")
    return fields_of(page)


def fields_of(page: BeautifulSoup) -> dict[str, Any]:
    """Return the fields of the one form of a section."""
    form = next(each for each in page.select("main form") if each.select("[name=seen]"))
    sent: dict[str, Any] = {}
    for field in form.select("input[name], textarea[name]"):
        if field.get("type") not in {"radio", "checkbox"}:
            sent[str(field["name"])] = field.get("value", "") if field.name == "input" else field.get_text().removeprefix("\n")
        elif field.has_attr("checked"):
            sent.setdefault(str(field["name"]), []).append(field.get("value", "on"))
    sent |= {str(each["name"]): each.select_one("option[selected]")["value"] for each in form.select("select")}  # type: ignore[index]  # one is selected
    del sent["csrfmiddlewaretoken"]
    return sent


def at(name: str, listing: Listing, *more: Any) -> str:
    """Return the address of a page of the listing."""
    return reverse(f"studio-{name}", args=[listing.slug, *more])


def errors_of(response: Any) -> list[str]:
    """Return the fields with an error of a page that was not accepted."""
    assert response.status_code == 400
    assert faults_of(response.content) == []
    return sorted(response.context["form"].errors)
