"""The example answers of the API reference: each JSON answer has one, of the shape that the table and the OpenAPI document name."""

import json

import jsonschema
import pytest
from bs4 import BeautifulSoup
from django.conf import settings
from django.test import Client

from marketplace.web.docs.reference import EXAMPLE_BASE_URL, EXAMPLE_RESPONSES, operations

from .calls import document, document_of
from .shapes import BYTES, Operation
from .table import OPERATIONS

EXAMPLES = json.loads(EXAMPLE_RESPONSES.read_text("utf-8"))
IN_JSON = [operation for operation in OPERATIONS if operation.response is not BYTES]


def test_every_json_response_has_an_example() -> None:
    assert set(EXAMPLES) == {document_of(operation)["operationId"] for operation in IN_JSON}, (
        "Run pytest tests/contract/record_examples.py."
    )


@pytest.mark.parametrize("operation", IN_JSON, ids=lambda operation: operation.name)
def test_example_has_the_shape_of_the_response(operation: Operation) -> None:
    described = document_of(operation)
    example = EXAMPLES[described["operationId"]]
    jsonschema.Draft202012Validator(operation.response).validate(example)
    [content] = described["responses"]["200"]["content"].values()
    jsonschema.Draft202012Validator(content["schema"] | {"components": document()["components"]}).validate(example)


@pytest.mark.slow
def test_examples_are_shown_with_the_address_of_this_service(client: Client) -> None:
    # They were made when a page first showed them, perhaps for a server at another address.
    operations.cache_clear()
    page = BeautifulSoup(client.get("/docs/api/createDownloadLink").content, "html.parser")
    shown = json.loads(page.select("#answer ~ .code")[0].get_text())
    assert shown["downloadUrl"].startswith(f"{settings.BASE_URL}/api/v1/downloads/")
    assert shown | {"downloadUrl": ""} == EXAMPLES["createDownloadLink"] | {"downloadUrl": ""}
    assert EXAMPLES["createDownloadLink"]["downloadUrl"].startswith(EXAMPLE_BASE_URL)
