"""The developer console: what it offers to whom, what becomes of what is typed, and the code that it shows."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from developers.models import App
from marketplace.web.console.form import CONFIRMATIONS
from marketplace.web.docs.reference import operations
from tests.factories import AppFactory

from .markup import read

pytestmark = pytest.mark.django_db
Browse = Callable[..., Client]


@pytest.fixture
def own(browse: Browse) -> tuple[Client, App]:
    app = AppFactory(name="Finder", granted_scopes="library:read wallet:spend")
    return browse(app.developer), app


def page_of(response: Any) -> BeautifulSoup:
    return BeautifulSoup(response.content, "html.parser")


def typed(client: Client, operation: str, **changes: str) -> dict[str, str]:
    """Return what the form of an operation would send as it is shown, with changes; `body_assetId` stands for `body-assetId`."""
    form = client.get(f"/dashboard/console/{operation}").context["form"]
    sent = {name: "" if form[name].value() is None else str(form[name].value()) for name in form.fields}
    return sent | {name.replace("__", "-"): value for name, value in changes.items()}


def made_by(response: Any) -> dict[str, Any]:
    """Return the call as the page's script reads it."""
    data = page_of(response).find(id="call-made")
    assert data is not None, response.context["form"].errors
    made: dict[str, Any] = json.loads(data.get_text())
    return made


def code_in(response: Any) -> dict[str, str]:
    page = page_of(response)
    names = [label.get_text(strip=True) for label in page.select("#call-code label")]
    return dict(zip(names, (tab.get_text() for tab in page.select("#call-code .tab")), strict=True))


@pytest.mark.slow
def test_every_operation_is_offered_and_has_its_form(own: tuple[Client, App]) -> None:
    client, _ = own
    listed = read(client.get("/dashboard/console"))
    for name in operations():
        assert f'"/dashboard/console/{name}"' in listed
        read(client.get(f"/dashboard/console/{name}"))
    assert '"/dashboard/console/buyAsset"' in client.get("/docs/api/buyAsset").content.decode()
    assert client.get("/dashboard/console/nothing").status_code == 404


def test_console_search_finds_operations_by_words(own: tuple[Client, App]) -> None:
    client, _ = own
    for query, found in (
        ("post wallet", {"quoteAsset", "buyAsset", "requestTopUp", "requestRefund"}),
        ("library:download", {"createDownloadLink"}),
        ("zzqqxx", set()),
    ):
        page = page_of(client.get("/dashboard/console", {"q": query}))
        assert {str(link["href"]).rsplit("/", 1)[1] for link in page.select(".operations a")} == found, query
    assert "No call matches." in page.get_text()


def test_only_own_approved_apps_can_be_chosen(own: tuple[Client, App]) -> None:
    client, app = own
    AppFactory(user=app.developer, name="Suspended", status="Suspended")
    AppFactory(user=app.developer, name="Waiting", status="Pending", granted_scopes="")
    other = AppFactory(name="Foreign")
    choices = dict(client.get("/dashboard/console/listLibrary").context["form"].fields["caller"].choices)
    assert choices == {str(app.pk): "Finder", "me": "Myself (like a personal token)"}
    refused = client.post("/dashboard/console/listLibrary", typed(client, "listLibrary", caller=str(other.pk)))
    assert refused.status_code == 400
    assert "caller" in refused.context["form"].errors


@pytest.mark.slow
def test_console_keeps_the_chosen_app_and_names_what_it_lacks(own: tuple[Client, App]) -> None:
    client, app = own
    second = AppFactory(user=app.developer, name="Second")
    assert f"/dashboard/console/getWallet?app={app.pk}" in client.get("/dashboard/console", {"app": str(app.pk)}).content.decode()
    for each in (app, second):
        form = client.get("/dashboard/console/getWallet", {"app": str(each.pk)}).context["form"]
        assert form["caller"].value() == str(each.pk)
    assert dict(form.fields["caller"].choices)[str(app.pk)] == "Finder (was not granted account:read)"
    assert client.get("/dashboard/console/getWallet", {"app": "nonsense"}).status_code == 200


def test_console_offers_only_apps_for_purchases_and_only_oneself_for_vendor_calls(own: tuple[Client, App]) -> None:
    client, app = own
    assert list(dict(client.get("/dashboard/console/buyAsset").context["form"].fields["caller"].choices)) == [str(app.pk)]
    assert list(dict(client.get("/dashboard/console/createListing").context["form"].fields["caller"].choices)) == ["me"]
    assert dict(client.get("/dashboard/console/requestTopUp").context["form"].fields["caller"].choices) == {
        "code": "This call can't be made here: see the code"
    }
    assert "limits" in page_of(client.get("/dashboard/console/buyAsset")).select_one("#call-form").get_text()  # type: ignore[union-attr]  # it is there


def test_console_without_an_app_shows_code_and_runs_nothing(browse: Browse) -> None:
    client = browse()
    response = client.post("/dashboard/console/buyAsset", typed(client, "buyAsset", body__assetId="x"))
    assert (made_by(response)["canRun"], made_by(response)["tokenRequest"]) == (False, None)
    assert "X-Api-Key: $KEY" in code_in(response)["curl"]


def test_console_shows_an_error_at_its_field_and_keeps_the_form(own: tuple[Client, App], subtests: pytest.Subtests) -> None:
    client, _ = own
    for operation, field, value in (
        ("getAsset", "path-asset_id", ""),
        ("listAssets", "query-limit", "many"),
        ("reportLeakedCredentials", "body-credentials", "[{"),
        ("reportLeakedCredentials", "body-credentials", "[NaN]"),
        ("reportLeakedCredentials", "body-credentials", "[1e999]"),
        ("reportLeakedCredentials", "body-credentials", f"[{'9' * 5_000}]"),
        ("reportLeakedCredentials", "body-credentials", '["\\ud800"]'),
        ("reportLeakedCredentials", "body-credentials", "[" * 10_000 + "]" * 10_000),
        ("updateWallet", "body-currencyPreference", "XXX"),
        ("getAsset", "path-asset_id", ".."),
        ("buyAsset", "header-Idempotency-Key", "once\nX-Api-Key: mine"),
        ("buyAsset", "header-Idempotency-Key", "größe"),
        ("createListing", "body-tags", "a\n" * 40_000),
    ):
        with subtests.test(operation=operation, value=value[:60]):
            response = client.post(f"/dashboard/console/{operation}", typed(client, operation) | {field: value})
            read(response, 400)
            assert field in response.context["form"].errors
            assert str(response.context["form"][field].value()) == value
            assert page_of(response).find(id="call-made") is None


@pytest.mark.slow
def test_console_makes_the_request_from_the_form(own: tuple[Client, App]) -> None:
    client, app = own
    sent = typed(client, "buyAsset", body__assetId="a/b ü", body__currency="USD", **{"header__Idempotency-Key": "once"})
    made = made_by(client.post("/dashboard/console/buyAsset", sent))
    assert (made["method"], made["path"]) == ("POST", "/api/v1/wallet/spend")
    assert json.loads(made["body"]) == {"assetId": "a/b ü", "currency": "USD"}
    headers = {"Idempotency-Key": "once", "Content-Type": "application/json"}
    assert (made["headers"], made["tokenRequest"], made["canRun"]) == (headers, {"app": str(app.pk)}, True)
    assert made["ask"] == CONFIRMATIONS["buyAsset"]
    made = made_by(client.post("/dashboard/console/listLibrary", typed(client, "listLibrary", caller="me", query__limit="5")))
    assert (made["path"], made["tokenRequest"], made["ask"]) == ("/api/v1/library?limit=5", {"scopes": "library:read"}, "")


@pytest.mark.slow
def test_console_escapes_form_values_in_path_and_query(own: tuple[Client, App]) -> None:
    client, _ = own
    made = made_by(client.post("/dashboard/console/getAsset", typed(client, "getAsset", path__asset_id="../wallet?x=1#y")))
    assert made["path"] == "/api/v1/assets/..%2Fwallet%3Fx%3D1%23y"
    made = made_by(client.post("/dashboard/console/searchAssets", typed(client, "searchAssets", query__q="a&limit=1 </script><b>")))
    assert made["path"] == "/api/v1/assets/search?q=a%26limit%3D1%20%3C%2Fscript%3E%3Cb%3E"


def test_script_gets_only_the_part_that_changes(own: tuple[Client, App]) -> None:
    client, _ = own
    response = client.post("/dashboard/console/listLibrary", typed(client, "listLibrary"), headers={"x-part": "call"})
    page = page_of(response)
    assert page.html is None
    assert page.select_one("#call #call-form [name=csrfmiddlewaretoken]")
    assert made_by(response)["path"] == "/api/v1/library"


def test_operations_that_the_console_confirms_exist_and_are_not_get() -> None:
    assert set(CONFIRMATIONS) <= set(operations())
    assert all(operations()[name].method != "GET" for name in CONFIRMATIONS)
