"""The whole journey of the specification: from an empty machine to a sold font, over HTTP and rendered forms only."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..servers.migrated import own_database
from ..servers.s3 import S3Server
from . import journey
from .person import Person
from .server import ADMIN, Server, running_server

pytestmark = [pytest.mark.database, pytest.mark.full]


@pytest.fixture(params=["local files", pytest.param("files on S3", marks=pytest.mark.s3)])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """Run the service with each kind of store, on the engine that the suite runs on, on a database of its own."""
    given = {}
    if request.param == "files on S3":
        request.getfixturevalue("s3_storage")
        given = s3_environment(request.getfixturevalue("s3_server"))
    with contextlib.ExitStack() as stack:
        if cluster := os.environ.get("TEST_DATABASE_URL", ""):
            given["DATABASE_URL"] = stack.enter_context(own_database(cluster))
        yield stack.enter_context(running_server(tmp_path, given))


def s3_environment(server: S3Server) -> dict[str, str]:
    """Return the settings that name the store."""
    return {
        "S3_BUCKET": server.bucket,
        "S3_ACCESS_KEY_ID": server.access_key,
        "S3_SECRET_ACCESS_KEY": server.secret_key,
        "S3_ENDPOINT_URL": server.endpoint,
    }


def test_font_family_goes_from_an_empty_machine_to_a_buyers_disk(server: Server) -> None:
    admin = Person(server, *ADMIN)
    admin.sign_in("/admin/")
    buyer = journey.developer_gets_a_key(server, admin)
    vendor = journey.vendor_gets_a_store(server, admin)
    asset_id = journey.vendor_lists_the_family(vendor)
    journey.vendor_lists_a_sound(vendor)
    journey.editors_reject_then_approve(server, admin, vendor, asset_id)
    journey.buyer_finds_buys_and_downloads(server, admin, buyer, asset_id)
    journey.link_works_without_a_credential(server, buyer, asset_id)
