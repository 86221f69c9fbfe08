"""Run by the benchmark in the service's own database: a user with credentials, money and a library. Prints them as JSON."""

import json
from datetime import timedelta

import django

django.setup()

from django.utils import timezone  # noqa: E402 - Django must be set up before its models are

from catalog.models import Listing  # noqa: E402 - as above
from developers.services.credentials import issue_api_key, issue_mcp_token, issue_personal_token  # noqa: E402 - as above
from marketplace.accounts.models import User  # noqa: E402 - as above
from marketplace.core.ids import new_id  # noqa: E402 - as above
from marketplace.core.scopes import APP_SCOPES  # noqa: E402 - as above
from tests.factories import PLENTY, AppFactory, UserFactory  # noqa: E402 - as above
from tests.shop import archive, on_sale  # noqa: E402 - as above
from wallet.services.funding import credit_wallet  # noqa: E402 - as above
from wallet.services.offers import Wish  # noqa: E402 - as above
from wallet.services.spending import spend  # noqa: E402 - as above

LIBRARY = 40


def main() -> None:
    """Make everything that the calls need."""
    user: User = UserFactory(email=f"bench-{new_id()}@example.com")
    credit_wallet(user=user, currency="USD", amount_minor=1_000_000, reason="benchmark", actor=None)
    owned = [on_sale(archive(str(number)), slug=f"bench-{new_id()}") for number in range(LIBRARY)]
    for listing in owned:
        spend(buyer=user, wish=Wish(str(listing.id), currency="USD"))
    app = AppFactory(user=user)
    _, key = issue_api_key(app=app, name="benchmark", actor=user)
    ends = timezone.now() + timedelta(days=1)
    _, personal = issue_personal_token(
        user=user, name="benchmark", scopes=APP_SCOPES, expires_at=ends, actor=user, password_confirmed=True, limits=PLENTY
    )
    _, token = issue_mcp_token(app=app, name="benchmark", expires_at=ends, actor=user, password_confirmed=True)
    slug = Listing.objects.filter(status="Published").exclude(slug__startswith="bench-").values_list("slug", flat=True).first()
    print(json.dumps({"key": key, "personal": personal, "token": token, "slug": slug or owned[0].slug, "owned": owned[0].slug}))


main()
