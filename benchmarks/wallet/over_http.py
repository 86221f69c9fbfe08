"""Purchases as programs make them: `POST /api/v1/wallet/spend` at granian, with a persistent connection for each client."""

import http.client
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

from django.db import connection, connections

from benchmarks.catalog.servers import serving
from tests.flows.server import environment
from tests.servers.redis import redis
from wallet.models import Order

# Neither rate limits nor the worker's mails are measured.
UNBOUNDED = {"RATE_LIMIT_API_KEY": "100000000", "RATE_LIMIT_ANONYMOUS": "100000000", "WORKER_IN_SERVER": "false"}


def over_http(purchases: Sequence[tuple[str, UUID]], seconds: int, clients: int) -> float:
    """Return the purchases per second of forked clients.

    Args:
        purchases: Pairs of an API key and the listing that is bought with it.
        seconds: The duration.
        clients: The number of clients.
    """
    given = connection.settings_dict
    address = f"postgres://{quote(given['USER'])}:{quote(given['PASSWORD'])}@{given['HOST']}:{given['PORT']}/{given['NAME']}"
    with tempfile.TemporaryDirectory() as folder, redis() as counters:
        env = environment(Path(folder), "http://127.0.0.1", UNBOUNDED | {"DATABASE_URL": address, "REDIS_URL": f"{counters}/0"})
        with serving("marketplace.wsgi:application", env, "/api/v1/categories") as server:
            before = Order.objects.count()
            connections.close_all()
            began = time.monotonic()
            children = []
            for number in range(clients):
                child = os.fork()
                if not child:
                    call(server.address.removeprefix("http://"), purchases[number::clients], began + seconds)
                children.append(child)
            for child in children:
                _, status = os.waitpid(child, 0)
                if status:
                    raise RuntimeError("a client was refused")
            took = time.monotonic() - began
            bought = Order.objects.count() - before
            connections.close_all()
    return bought / took


def call(address: str, purchases: Sequence[tuple[str, UUID]], until: float) -> None:
    """Make the purchases one after the other until the time is over, then end this process."""
    code = 1
    try:
        line = http.client.HTTPConnection(address, timeout=60)
        for key, listing in purchases:
            if time.monotonic() > until:
                break
            body = json.dumps({"assetId": str(listing), "currency": "INR"})
            line.request("POST", "/api/v1/wallet/spend", body, {"X-Api-Key": key, "Content-Type": "application/json"})
            answer = line.getresponse()
            answer.read()
            if answer.status != http.client.OK:
                return
        code = 0
    finally:
        os._exit(code)
