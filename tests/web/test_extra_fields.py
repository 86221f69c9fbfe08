"""Fields that a form does not have: each form of the pages, sent as it stands there and with every column of ours besides."""

from typing import Any
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup, Tag
from django.test import Client
from django.test.client import MULTIPART_CONTENT

from tests.columns import COLUMNS, MARK
from tests.contract.calls import rows

from .world import PAGES, World, make_world

pytestmark = pytest.mark.django_db
SIGN_OUT = "/account/logout/"
PEOPLE = ("newcomer", "member")


def _filled(form: Tag) -> dict[str, Any]:
    """Return what a browser sends of a form in which nothing is changed."""
    sent: dict[str, Any] = {}
    for field in form.select("input[name], textarea[name], select[name], button[name]"):
        name, kind = str(field["name"]), field.get("type")
        if field.name == "select":
            options = [option for option in field.select("option") if option.has_attr("selected")] or field.select("option")[:1]
            sent[name] = [str(option.get("value", "")) for option in options]
        elif kind == "file" or (kind in {"checkbox", "radio"} and not field.has_attr("checked")):
            continue
        else:
            sent.setdefault(name, []).append(field.get_text() if field.name == "textarea" else str(field.get("value", "")))
    return sent


def _signed_in(world: World, who: str) -> Client:
    """Return a browser of theirs; some of the forms end sessions."""
    world.people[who].refresh_from_db()
    return world.client(who)


def test_forms_ignore_fields_that_they_do_not_show(jobs_wait: None, unlimited: None, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 2 * len(COLUMNS)
    world = make_world()
    forms, done = set[str](), set[str]()
    for who in PEOPLE:
        for page in PAGES[who]:
            address = page.format_map(world.places)
            soup = BeautifulSoup(_signed_in(world, who).get(address).content, "html.parser")
            for form in soup.select(f"form[method=post]:not([action='{SIGN_OUT}'])"):
                to = str(form.get("action") or address)
                if to in forms:
                    continue
                shown = {str(field["name"]) for field in form.select("[name]")}
                sent = {name: MARK for name in COLUMNS if name not in shown} | _filled(form)
                # Parsing so many fields takes ten times as long where each is a part.
                kind = MULTIPART_CONTENT if form.get("enctype") else "application/x-www-form-urlencoded"
                answer = _signed_in(world, who).post(
                    to, sent if kind == MULTIPART_CONTENT else urlencode(sent, doseq=True), content_type=kind
                )
                assert answer.status_code < 500, (to, answer.status_code)
                assert "/account/login" not in answer.get("Location", ""), to
                forms.add(to)
                if answer.status_code == 302:
                    done.add(to)
    assert len(forms) > 40, sorted(forms)
    # The others ask for a password, a word or a file first.
    assert len(done) > 20, sorted(forms - done)
    assert MARK not in str(rows())
