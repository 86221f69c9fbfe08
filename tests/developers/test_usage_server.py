"""Usage on a real server: nothing is lost when it is told to stop."""

import sqlite3
from pathlib import Path

import pytest
import requests

from tests.flows.server import environment, manage, running_server
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.full
MAKE_KEY = """
from developers.models import App
from developers.services.credentials import issue_api_key
from marketplace.accounts.models import User
user = User.objects.get()
app = App.objects.create(user=user, name="Load", purpose="Load", status="Approved", granted_scopes="account:read",
                         client_type="public", authorization_grant_type="authorization-code")
print("SECRET", issue_api_key(app=app, name="load", actor=user)[1])
"""


def calls_in(folder: Path) -> int:
    with sqlite3.connect(folder / "marketplace.sqlite3") as database:
        return int(database.execute("SELECT coalesce(sum(calls), 0) FROM developers_apiusage").fetchone()[0])


def test_calls_of_a_server_that_is_told_to_stop_are_written(tmp_path: Path) -> None:
    given = {"USAGE_FLUSH_SECONDS": "3600"}
    with running_server(tmp_path, given) as server:
        printed = manage(environment(tmp_path, server.base_url, given), "shell", "-c", MAKE_KEY)
        secret = next(line.split()[1] for line in printed.splitlines() if line.startswith("SECRET"))
        for _ in range(7):
            assert (
                requests.get(f"{server.base_url}/api/v1/wallet", headers={"X-Api-Key": secret}, timeout=PATIENCE_SECONDS).status_code == 200
            )
        assert calls_in(tmp_path) == 0
    assert calls_in(tmp_path) == 7
