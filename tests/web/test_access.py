"""What a forged form gets, and where someone signed out comes back to; whose things pages show is in `test_others_things.py`."""

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from marketplace.accounts.pages import SIGNED_OUT

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("came_from", "back"),
    [
        ("http://testserver/dashboard/studio/listings/a/files?x=1#file", "/dashboard/studio/listings/a/files?x=1"),
        # It came back with an error, where only forms are taken.
        ("http://testserver/dashboard/studio/listings/a/files/upload", "/dashboard"),
        ("http://testserver/nothing/is/here", "/dashboard"),
        ("http://elsewhere.example/dashboard/apps", "/dashboard"),
        ("http://testserver//elsewhere.example/", "/dashboard"),
        ("javascript:alert(1)", "/dashboard"),
        ("http://[", "/dashboard"),
        ("", "/dashboard"),
    ],
)
def test_form_sent_after_signing_out_leads_back_to_its_page_with_a_message(client: Client, came_from: str, back: str) -> None:
    response = client.post(reverse("studio-file-upload", args=["a"]), headers={"referer": came_from} if came_from else {})
    assert response["Location"] == f"{reverse('account_login')}?{urlencode({'next': back}, safe='/')}"
    assert SIGNED_OUT in client.get(response["Location"]).content.decode()


def test_request_of_a_script_after_signing_out_leaves_no_message(client: Client) -> None:
    response = client.post(reverse("studio-file-upload", args=["a"]), headers={"sec-fetch-mode": "cors"})
    assert SIGNED_OUT not in client.get(response["Location"]).content.decode()


@pytest.mark.parametrize("value", ["\\000aaaaaaaaaaaaaaa", "aaaaaaaaaaaa\\000", "aaaa\\377aaaaaaaa", "short", "a" * 5000])
def test_cookie_that_is_no_session_key_is_no_session(client: Client, value: str) -> None:
    # Quoted, a cookie may spell any character by its octal number.
    response = client.get(reverse("dashboard"), HTTP_COOKIE=f'sessionid="{value}"')
    assert (response.status_code, response["Location"].split("?")[0]) == (302, reverse("account_login"))
