"""Usage on a real server: nothing is lost when it is told to stop."""

from pathlib import Path

import pytest
import requests
from django.db import connection

from developers.models import ApiUsage
from developers.services.credentials import issue_api_key
from tests.factories import AppFactory
from tests.flows.server import environment
from tests.servers.ports import free_port
from tests.servers.process import Process, granian
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.full, pytest.mark.django_db(transaction=True)]


def test_calls_of_a_server_that_is_told_to_stop_are_written(tmp_path: Path) -> None:
    app = AppFactory()
    _, secret = issue_api_key(app=app, name="load", actor=app.user)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    given = {"USAGE_FLUSH_SECONDS": "3600", "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}"}
    server = Process(granian(port, "--blocking-threads", "4"), environment(tmp_path, address, given), tmp_path / "console.txt")
    with server.serving(f"{address}/robots.txt"):
        for _ in range(7):
            answer = requests.get(f"{address}/api/v1/wallet", headers={"X-Api-Key": secret}, timeout=PATIENCE_SECONDS)
            assert answer.status_code == 200
        assert not ApiUsage.objects.exists()
    assert ApiUsage.objects.get().calls == 7
