"""A shop with something to sell, buyers with keys and money, and a vendor."""

import json
import subprocess
import sys
from typing import Any

from benchmarks.catalog.servers import seed
from tests import ROOT
from tests.nodes.deployment import Deployment

BUYERS = 20
OWN = 20
SCRIPT = f"""
import json
import django
django.setup()
from catalog.models import Listing
from developers.services.credentials import issue_api_key
from tests.callers import bearer, personal_token
from tests.factories import AppFactory
from tests.shop import archive, bought, funded, on_sale, store_keeping, tiers
tiers()
store = store_keeping(2000)
own = [on_sale(archive(str(number)), store=store) for number in range({OWN})]
buyers = []
for number in range({BUYERS}):
    buyer = funded(inr=10**10, email=f"buyer{{number}}@example.com")
    bought(own[0], buyer)
    buyers.append({{"key": issue_api_key(app=AppFactory(user=buyer), name="load", actor=buyer)[1]}})
assets = [str(pk) for pk in Listing.objects.filter(status="Published", tier_requirement="free").exclude(pk=own[0].pk).values_list("pk", flat=True)[:2000]]
print(json.dumps({{
    "buyers": buyers, "owned": str(own[0].pk), "own": [str(listing.pk) for listing in own[1:]], "assets": assets,
    "vendor": bearer(personal_token(store.owner)[1]),
}}))
"""


def make_scene(deployment: Deployment, *, listings: int) -> dict[str, Any]:
    """Fill the shop; return what callers need to know."""
    seed(deployment.env, listings, "--yes")
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, env=deployment.env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr[-2000:])
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return facts | {"nodes": deployment.addresses}
