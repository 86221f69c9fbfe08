"""Every list of the admin can be searched and filtered, and shows names and amounts in plain words."""

import json
import re
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib import admin
from django.db import models
from django.test import Client

from library.models import Licence
from marketplace.review import service
from marketplace.review.queues import QueueAdmin
from tests.admin.pages import address
from tests.ops.person import Person
from tests.shop import bought, on_sale
from wallet.models import Order, Transfer
from wallet.services.refunds import refund_order

pytestmark = pytest.mark.django_db
LISTS = dict(admin.site._registry)
# Few rows, which a reader sees at once, so that there is nothing to search for or to leave out.
SHORT = {"auth.Group", "jobs.Worker", "jobs.Schedule", "operations.SitePage", "catalog.LicenseTier"}
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


def test_every_list_can_be_searched_and_filtered_and_its_columns_are_no_ids_documents_or_amounts_in_minor_units() -> None:
    assert {model._meta.label for model in LISTS} >= SHORT
    for model, model_admin in LISTS.items():
        if model._meta.label not in SHORT:
            assert model_admin.search_fields, f"{model} cannot be searched"
            assert model_admin.list_filter, f"{model} has no filters"
        assert len(model_admin.list_display) > 1, model
        fields = {field.name: field for field in model._meta.get_fields()}
        for name in map(str, model_admin.list_display):
            assert not isinstance(fields.get(name), models.UUIDField | models.JSONField), (model, name)
            assert not (name in fields and name.endswith(("_minor", "_bp"))), (model, name)


def test_licences_are_found_by_a_whole_address_or_slug_and_not_by_a_part_of_one(root: Client) -> None:
    order = bought(on_sale(slug="harbor"))
    email = order.buyer.email
    for query, found in ((email.upper(), 1), ("harbor", 1), (email[1:], 0), ("arbo", 0)):
        page: Any = root.get(address(Licence, "changelist"), {"q": query})
        assert page.context["cl"].result_count == found, query


def test_search_of_a_list_counts_rows_by_its_filters_and_finds_all_that_have_a_whole_value(
    root: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "LISTED_ROWS", 1)
    listing = on_sale(slug="harbor")
    order = bought(listing, license_slug="personal")
    bought(listing, license_slug="commercial")
    refund_order(order=order, reason="test", actor=None)
    filters: list[tuple[type[models.Model], dict[str, Any], int]] = [
        (Order, {"status__exact": "Completed"}, 1),
        (Order, {"status__exact": "Refunded"}, 1),
        (Licence, {"tier__id__exact": Licence.objects.latest("pk").tier_id}, 1),
        (Licence, {}, 2),
    ]
    for model, asked, found in filters:
        page: Any = root.get(address(model, "changelist"), {"q": "harbor", **asked})
        assert page.context["cl"].result_count == found, (model, asked)


def test_pages_of_a_list_have_each_row_once_whatever_it_is_sorted_and_filtered_by(root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = on_sale(slug="harbor")
    for slug in ("personal", "personal", "commercial"):
        bought(listing, license_slug=slug)
    Licence.objects.update(acquired_at=Licence.objects.earliest("pk").acquired_at)
    lists: list[tuple[type[models.Model], dict[str, str]]] = [
        *((Licence, {"o": order}) for order in ("1", "-8", "2.4")),
        (Licence, {"q": "harbor"}),
        (Transfer, {"journal__kind__exact": "sale", "o": "1"}),
    ]
    for model, asked in lists:
        whole: Any = root.get(address(model, "changelist"), asked)
        with monkeypatch.context() as changed:
            changed.setattr(LISTS[model], "list_per_page", 2)
            pages: list[Any] = [root.get(address(model, "changelist"), {**asked, "p": str(page)}) for page in (1, 2)]
        rows = [row for page in pages for row in page.context["cl"].result_list]
        assert rows == list(whole.context["cl"].result_list)[:4] != [], (model, asked)


@pytest.mark.slow
@pytest.mark.database_full
def test_every_list_opens_and_is_searched_and_its_rows_show_neither_ids_nor_raw_values(root: Client) -> None:
    Person()
    filled = 0
    for model, model_admin in LISTS.items():
        assert root.get(address(model, "changelist"), {"q": "x"}).status_code == 200, model
        response: Any = root.get(address(model, "changelist"), {"status__exact": "all"}, follow=True)
        if isinstance(model_admin, QueueAdmin):
            filters = {spec.expected_parameters()[0] for spec in response.context_data["cl"].filter_specs}
            assert filters | {"q"} <= set(model_admin.kept_parameters), f"the next of {model} is found without some filters of the list"
        page = BeautifulSoup(response.content, "html.parser")
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
