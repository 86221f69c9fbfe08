"""Run by the benchmark in the service's own database: a user with credentials, money and a library. Prints them as JSON."""

import json
from datetime import timedelta

from django.utils import timezone

from catalog.models import Listing
from developers.services.credentials import issue_api_key, issue_mcp_token, issue_token_without_app
from marketplace.accounts.models import User
from marketplace.core.ids import new_id
from marketplace.core.scopes import APP_SCOPES
from tests.factories import PLENTY, AppFactory, UserFactory
from tests.shop import archive, on_sale
from wallet.services.funding import credit_wallet
from wallet.services.offers import PurchaseRequest
from wallet.services.spending import spend

LIBRARY = 40


def main() -> None:
    """Create everything that the calls need."""
    user: User = UserFactory(email=f"bench-{new_id()}@example.com")
    credit_wallet(user=user, currency="USD", amount_minor=1_000_000, reason="benchmark", actor=None)
    owned = [on_sale(archive(str(number)), slug=f"bench-{new_id()}") for number in range(LIBRARY)]
    for listing in owned:
        spend(buyer=user, purchase=PurchaseRequest(str(listing.id), currency="USD"))
    app = AppFactory(user=user)
    _, key = issue_api_key(app=app, name="benchmark", actor=user)
    ends = timezone.now() + timedelta(days=1)
    _, personal = issue_token_without_app(
        user=user, name="benchmark", scopes=APP_SCOPES, expires_at=ends, actor=user, password_confirmed=True, limits=PLENTY
    )
    _, token = issue_mcp_token(app=app, name="benchmark", expires_at=ends, actor=user, password_confirmed=True)
    slug = Listing.objects.filter(status="Published").exclude(slug__startswith="bench-").values_list("slug", flat=True).first()
    print(json.dumps({"key": key, "personal": personal, "token": token, "slug": slug or owned[0].slug, "owned": owned[0].slug}))
