"""What a request may hold is judged before anything looks at its parts."""

import json
import time
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from developers import bounds as developers_bounds
from developers.api.serializers import LeakedCredential
from marketplace.core import bounds

pytestmark = pytest.mark.django_db
REPORT = "/api/v1/leaked-credentials"
# A tenth of a second would be a thousand small requests.
SECONDS = 0.3


def sent(body: Any) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    return APIClient().generic("POST", REPORT, text, "application/json")


@pytest.mark.parametrize(
    "body",
    [
        '{"credentials": [' + "{}," * 330_000 + "{}]}",
        "[" + ("[" * 20 + "]" * 20 + ",") * 5_000 + "0]",
        "{" + ",".join(f'"n{number}": 0' for number in range(70_000)) + "}",
        '["\\\\", "\\"", ' + '"",' * 200_000 + '""]',
    ],
    ids=["objects", "lists", "names", "texts"],
)
def test_body_of_too_many_values_is_refused(body: str) -> None:
    answer = sent(body)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_body")
    assert f"{bounds.MAX_JSON_VALUES:,}" in answer.json()["detail"]


def test_items_of_a_list_that_is_too_long_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise AssertionError("an item was looked at")

    monkeypatch.setattr(LeakedCredential, "run_validation", fail)
    answer = sent({"credentials": [{}] * (developers_bounds.MAX_LEAKED_CREDENTIALS + 1)})
    assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [("#/credentials", "max_length")]


def test_commas_and_brackets_in_json_strings_do_not_count_as_values() -> None:
    value = ',[{\\"' * 40
    assert sent({"credentials": [{"value": value}] * developers_bounds.MAX_LEAKED_CREDENTIALS}).status_code == 200


def test_unknown_fields_are_named_up_to_a_number() -> None:
    errors = sent({f"n{number}": 0 for number in range(9_000)}).json()["errors"]
    assert len(errors) == bounds.MAX_UNKNOWN_NAMES
    assert {error["code"] for error in errors} == {"unknown_field"}


def test_items_with_mistakes_are_named_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    validated = LeakedCredential.run_validation

    def watched(self: LeakedCredential, *args: Any) -> Any:
        looked_at.append(args)
        return validated(self, *args)

    monkeypatch.setattr(LeakedCredential, "run_validation", watched)
    errors = sent({"credentials": [{"value": 1}] * developers_bounds.MAX_LEAKED_CREDENTIALS}).json()["errors"]
    assert [error["pointer"] for error in errors] == [f"#/credentials/{index}/value" for index in range(bounds.MAX_ITEM_ERRORS)]
    assert len(looked_at) == bounds.MAX_ITEM_ERRORS


@pytest.mark.parametrize("path", ["/api/v1/assets", "/browse"])
def test_address_that_is_too_long_is_a_414(client: Client, path: str) -> None:
    answer = client.get(f"{path}?q={'a' * bounds.ADDRESS_BYTES}")
    assert answer.status_code == 414
    if path.startswith("/api/"):
        assert (answer.json()["code"], answer.json()["maximumBytes"]) == ("address_too_long", bounds.ADDRESS_BYTES)
    rest = bounds.ADDRESS_BYTES - len(path) - len("unknown=")
    assert client.get(f"{path}?unknown={'a' * rest}").status_code != 414


@pytest.mark.parametrize("path", ["/api/v1/assets", "/browse"])
def test_headers_that_are_too_large_are_a_431(client: Client, path: str) -> None:
    answer = client.get(path, headers={"accept": "a/b," * (bounds.HEADER_BYTES // 4)})
    assert answer.status_code == 431
    most = "a/b," * (bounds.HEADER_BYTES // 4 - 100)
    assert client.get(path, headers={"accept": most}).status_code == 200
    names = [f"x-{number}" for number in range(bounds.HEADERS_BYTES // bounds.HEADER_BYTES)]
    assert client.get(path, headers=dict.fromkeys([*names, "accept"], most)).status_code == 431


def test_cookie_that_takes_long_to_read_is_refused_unread(client: Client) -> None:
    began = time.process_time()
    assert client.get("/browse", headers={"cookie": 'a="' + r"\"" * 16_000 + '"'}).status_code == 431
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("form", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_form_that_is_too_long_is_a_413_and_not_read(client: Client, form: str) -> None:
    class Unread:
        def read(self, *_: object) -> bytes:
            raise AssertionError("the form was read")

        readline = read

    environ: dict[str, Any] = {"CONTENT_LENGTH": str(bounds.FORM_BYTES + 1), "CONTENT_TYPE": form, "wsgi.input": Unread()}
    answer = client.generic("POST", "/account/login/", **environ)
    assert answer.status_code == 413


@pytest.mark.parametrize("length", ["9" * 5_000, "many", "-1"])
def test_form_with_an_invalid_content_length_does_not_crash(length: str) -> None:
    response = Client().generic("POST", "/certificates/verify", b"", "application/x-www-form-urlencoded", CONTENT_LENGTH=length)
    assert response.status_code < 500
