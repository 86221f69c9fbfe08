"""The whole journey of the specification: from an empty machine to a sold font, over HTTP and rendered forms only.

Here on SQLite and a folder; `tests/nodes` goes the same way on PostgreSQL and S3.
"""

from pathlib import Path

import pytest

from . import journey
from .person import Person
from .server import ADMIN, running_server


@pytest.mark.full
def test_font_family_goes_from_an_empty_machine_to_a_buyers_disk(tmp_path: Path) -> None:
    with running_server(tmp_path, {}) as server:
        admin = Person(server, *ADMIN)
        admin.sign_in("/admin/")
        buyer = journey.developer_gets_a_key(server, admin)
        vendor = journey.vendor_gets_a_store(server, admin)
        asset_id = journey.vendor_lists_the_family(vendor)
        journey.editors_reject_then_approve(server, admin, vendor, asset_id)
        journey.buyer_finds_buys_and_downloads(server, admin, buyer, asset_id)
        journey.link_works_without_a_credential(server, buyer, asset_id)
