"""The API reference: every operation of the document has its page, and its examples can be run."""

import ast
import json
import re

import jsonschema
import pytest
from bs4 import BeautifulSoup
from django.test import Client

from marketplace.web.docs.reference import operations

from .markup import faults_of


@pytest.fixture(scope="module")
def pages() -> dict[str, bytes]:
    client = Client()
    return {name: client.get(f"/docs/api/{name}").content for name in operations()}


@pytest.mark.slow
def test_every_operation_is_in_the_index_and_has_its_page(client: Client, pages: dict[str, bytes]) -> None:
    index = client.get("/api/v1/docs").content.decode()
    document = client.get("/api/v1/schema").json()
    named = {each["operationId"] for item in document["paths"].values() for each in item.values()}
    assert named == set(pages)
    for name, page in pages.items():
        assert f'"/docs/api/{name}"' in index
        assert faults_of(page) == [], name


@pytest.mark.slow
def test_examples_in_python_can_be_read_and_name_what_is_required(pages: dict[str, bytes]) -> None:
    for name, html in pages.items():
        python = BeautifulSoup(html, "html.parser").select(".tabs .tab")[1].get_text()
        tree = ast.parse(python)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        assert any(call.func.attr == operations()[name].method.lower() for call in calls if isinstance(call.func, ast.Attribute)), name
    curl = BeautifulSoup(pages["buyAsset"], "html.parser").select(".tabs .tab")[0].get_text()
    assert re.search(r'-d \'\{"assetId": "hanken-grotesk"\}\'', curl)


@pytest.mark.slow
def test_bodies_of_examples_are_what_the_operation_takes(client: Client, pages: dict[str, bytes]) -> None:
    document = client.get("/api/v1/schema").json()
    seen = 0
    for operation in (each for item in document["paths"].values() for each in item.values()):
        shape = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if shape is None:
            continue
        curl = BeautifulSoup(pages[operation["operationId"]], "html.parser").select(".tabs .tab")[0].get_text()
        body = json.loads(re.findall(r"-d '(.*)'", curl)[0])
        jsonschema.validate(body, shape | {"components": document["components"]})
        assert "…" not in [*body.values()], operation["operationId"]
        seen += 1
    assert seen > 5
