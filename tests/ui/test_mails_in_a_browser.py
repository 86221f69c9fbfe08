"""Every mail with sample data in a real browser: accessible, and no wider than a phone."""

import pytest
from allauth.account.adapter import get_adapter
from playwright.sync_api import Browser

from tests.mail_samples import ACCOUNT_TEMPLATES, TEMPLATES, account_sample, sample_of
from tests.screenshots.driving import Scheme, context, overflows, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_every_mail_passes_axe_and_fits_the_window(chromium: Browser, size: str, scheme: Scheme) -> None:
    mails = {name: sample_of(name).html for name in TEMPLATES}
    mails |= {name: account_sample(name, get_adapter()).html for name in ACCOUNT_TEMPLATES}
    window = context(chromium, size, scheme)
    page = window.new_page()
    wrong: dict[str, list[str]] = {}
    for name, html in mails.items():
        page.set_content(html)
        if faults := [*violations(page), *(["is wider than the window"] if overflows(page) else [])]:
            wrong[name] = faults
    window.close()
    assert wrong == {}
