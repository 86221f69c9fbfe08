"""Every mail with sample data in a real browser: no wider than a phone, and accessible; axe looks at one of each make."""

import pytest
from allauth.account.adapter import get_adapter
from bs4 import BeautifulSoup
from playwright.sync_api import Browser

from tests.mail_samples import ACCOUNT_TEMPLATES, TEMPLATES, account_sample, sample_of
from tests.screenshots.driving import context, overflows, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


def parts_of(html: str) -> frozenset[str]:
    """Return what a mail is made of: all are made by one function."""
    return frozenset(f"{tag.name} {tag.get('class')}" for tag in BeautifulSoup(html, "html.parser").find_all(True))


def test_every_mail_fits_a_phone_and_passes_axe(chromium: Browser) -> None:
    mails = {name: sample_of(name).html for name in TEMPLATES}
    mails |= {name: account_sample(name, get_adapter()).html for name in ACCOUNT_TEMPLATES}
    one_of_each = {parts_of(html): name for name, html in mails.items()}.values()
    wrong: dict[str, list[str]] = {}
    phone, desktop = context(chromium, "phone", "dark").new_page(), context(chromium, "desktop", "light").new_page()
    for name, html in mails.items():
        phone.set_content(html)
        if overflows(phone):
            wrong[name] = ["is wider than the window"]
    for name in one_of_each:
        for page in (phone, desktop):
            page.set_content(mails[name])
            wrong.setdefault(name, []).extend(violations(page))
    assert {name: faults for name, faults in wrong.items() if faults} == {}
