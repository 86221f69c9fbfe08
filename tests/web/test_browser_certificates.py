"""Verifying a certificate in a real browser: with the keyboard alone, with scripts and without, on a phone in the dark and at a desk."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import connections
from playwright.sync_api import Browser, expect

from library.certificates import certificate_of, signed_certificate
from library.models import Licence
from tests.keyboard import fill, follow
from tests.screenshots.driving import Scheme, context, overflows, violations
from tests.shop import archive, bought, on_sale

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("size", "scheme", "java_script"), [("phone", "dark", False), ("desktop", "light", True)])
def test_certificate_is_verified_with_the_keyboard_alone(
    chromium: Browser,
    live_server: Any,
    tmp_path: Path,
    size: str,
    scheme: Scheme,
    java_script: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    bought(on_sale(archive(), title="Halden Grotesk"))
    certificate = signed_certificate(certificate_of(Licence.objects.get()))
    window = context(chromium, size, scheme, java_script=java_script)
    page = window.new_page()
    page.goto(f"{live_server.url}/certificates/verify")
    fill(page, "text", certificate["jws"])
    follow(page, "Verify")
    expect(page.get_by_role("heading", name="The licence is valid")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Halden Grotesk")
    assert not overflows(page)
    if java_script:
        assert violations(page) == []

    saved = tmp_path / "certificate.json"
    saved.write_bytes(orjson.dumps(certificate | {"jws": certificate["jws"][:-4] + "AAAA"}))
    page.goto(f"{live_server.url}/certificates/verify")
    page.get_by_label("File").set_input_files(saved)
    follow(page, "Verify")
    expect(page.get_by_role("heading", name="This is not a certificate of ours")).to_be_visible()
    assert not overflows(page)
    window.close()
    connections.close_all()
