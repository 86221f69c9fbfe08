"""Every list of the admin can be searched and filtered, and shows names and amounts in plain words."""

import json
import re
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib import admin
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.test import Client

from tests.admin import every_page
from tests.admin.pages import address
from tests.callers import signed_in
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
LISTS = dict(admin.site._registry)
# Few rows, which a reader sees at once, so that there is nothing to search for or to leave out.
SHORT = {"auth.Group", "jobs.Worker", "jobs.Schedule", "operations.SitePage", "catalog.LicenseTier"}
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


def _names(lists: Any) -> list[str]:
    return [model._meta.label for model in lists]


@pytest.mark.parametrize("model", [model for model in LISTS if model._meta.label not in SHORT], ids=lambda model: model._meta.label)
def test_list_can_be_searched_and_filtered(model: type[models.Model]) -> None:
    model_admin = LISTS[model]
    assert model_admin.search_fields, "it cannot be searched"
    assert model_admin.list_filter, "it has no filters"


def test_every_list_of_few_rows_is_registered_in_the_admin() -> None:
    assert set(_names(LISTS)) >= SHORT


@pytest.mark.parametrize("model", LISTS, ids=lambda model: model._meta.label)
def test_columns_are_neither_ids_nor_documents_nor_amounts_in_minor_units(model: type[models.Model]) -> None:
    assert len(LISTS[model].list_display) > 1
    for name in LISTS[model].list_display:
        try:
            field = model._meta.get_field(str(name))
        except FieldDoesNotExist:
            continue
        assert not isinstance(field, models.UUIDField | models.JSONField), name
        assert not str(name).endswith(("_minor", "_bp")), name


@pytest.mark.slow
def test_rows_show_neither_ids_nor_raw_values() -> None:
    every_page.enrich()
    client: Client = signed_in(UserFactory(is_staff=True, is_superuser=True))
    filled = 0
    for model in LISTS:
        page = BeautifulSoup(client.get(address(model, "changelist"), {"status__exact": "all"}, follow=True).content, "html.parser")
        for cell in page.select("#result_list tbody td, #result_list tbody th"):
            text = " ".join(cell.get_text(" ").split())
            filled += 1
            assert not UUID.search(text), (model._meta.label, text)
            assert not _is_raw(text), (model._meta.label, text)
    assert filled > 100


def _is_raw(text: str) -> bool:
    """Tell whether a text is a list or an object as programs write it."""
    try:
        return isinstance(json.loads(text.replace("'", '"')), list | dict)
    except ValueError:
        return False
