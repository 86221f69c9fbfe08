"""The caller's address: nobody but our own proxies is believed."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import RequestFactory

from marketplace.http.client_address import client_network, is_from_proxy
from marketplace.settings import environment


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "expected"),
    [
        ([], "192.0.2.1", "203.0.113.9", "192.0.2.1"),
        (["10.0.0.0/8"], "192.0.2.1", "203.0.113.9", "192.0.2.1"),
        (["10.0.0.0/8"], "10.1.2.3", "", "10.1.2.3"),
        # The client wrote the first entry; the proxies appended the truth.
        (["10.0.0.0/8"], "10.1.2.3", "198.51.100.7, 203.0.113.9, 10.9.9.9", "203.0.113.9"),
        (["10.0.0.0/8"], "10.1.2.3", "203.0.113.9, nonsense", "10.1.2.3"),
        (["10.1.2.3"], "10.1.2.3", "10.1.2.3, 10.1.2.3", "10.1.2.3"),
        (["10.0.0.0/8"], "::ffff:10.1.2.3", "2001:db8::1", "2001:db8::/64"),
        (["::1"], "::1", "::ffff:203.0.113.9", "203.0.113.9"),
        (["10.0.0.0/8"], "", "203.0.113.9", "unknown"),
        # Counted by network.
        ([], "2001:db8:0:7:1:2:3:4", "", "2001:db8:0:7::/64"),
        ([], "", "", "unknown"),
    ],
)
def test_client_address_is_the_nearest_hop_that_is_no_trusted_proxy(
    proxies: list[str], remote: str, forwarded: str, expected: str, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR=remote, headers={"x-forwarded-for": forwarded} if forwarded else {})
    assert client_network(request) == expected


@pytest.mark.parametrize(
    ("proxies", "remote", "headers", "expected"),
    [
        (["10.0.0.0/8"], "10.1.2.3", {"HTTP_X_FORWARDED_FOR": "203.0.113.9"}, True),
        (["10.0.0.0/8"], "::ffff:10.1.2.3", {"HTTP_X_FORWARDED_FOR": "203.0.113.9"}, True),
        (["10.0.0.0/8"], "10.1.2.3", {}, False),
        (["10.0.0.0/8"], "192.0.2.1", {"HTTP_X_FORWARDED_FOR": "203.0.113.9"}, False),
        (["10.0.0.0/8"], "", {"HTTP_X_FORWARDED_FOR": "203.0.113.9"}, False),
        ([], "10.1.2.3", {"HTTP_X_FORWARDED_FOR": "203.0.113.9"}, False),
    ],
)
def test_only_trusted_proxies_are_recognised(
    *, proxies: list[str], remote: str, headers: dict[str, str], expected: bool, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert is_from_proxy({"REMOTE_ADDR": remote} | headers) is expected


def test_proxies_are_read_as_a_list_and_a_name_among_them_prevents_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", "10.0.0.0/8, ::1")
    assert environment.networks("TRUSTED_PROXIES") == ["10.0.0.0/8", "::1"]
    monkeypatch.setenv("TRUSTED_PROXIES", "10.0.0.0/8, proxy.example")
    with pytest.raises(ImproperlyConfigured, match=r"TRUSTED_PROXIES contains 'proxy\.example'; set it to"):
        environment.networks("TRUSTED_PROXIES")
