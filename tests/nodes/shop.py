"""What the nodes begin with; runs in their environment."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Permission
from django.core.management import call_command

from developers.services.credentials import issue_api_key
from marketplace.accounts.models import User
from tests.callers import bearer, personal_token, said, signed_in
from tests.factories import AppFactory, UserFactory
from tests.flows.server import ADMIN
from tests.shop import archive, bought, funded, on_sale, store_keeping, tiers
from tests.vendors.attaching import show

DESCRIPTIONS = 40
# Markdown that takes long to render.
LINKS = ("[" * 50 + "a](<b" * 10) * 300


def prepare() -> None:
    """Make the bucket, an admin, and the static files, but for those that no page of a test loads: to compress them takes long."""
    said("make_bucket")
    User.objects.create_superuser(email=ADMIN[0], password=ADMIN[1])
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["drf_spectacular_sidecar", "rest_framework"])


def make_shop(assets: str = "120", name: str = "buyer") -> dict[str, Any]:
    """Make so many assets for sale, one that is owned, its buyer of this name with a key and its vendor with a token."""
    tiers()
    buyer = funded(inr=10**9, email=f"{name}@example.com")
    store = store_keeping(2000)
    owned = on_sale(archive(), store=store, title="Owned", slug=f"owned-by-{name}")
    preview = show(owned)
    bought(owned, buyer)
    return {
        "buyer": buyer.email,
        "key": issue_api_key(app=AppFactory(user=buyer), name="probe", actor=buyer)[1],
        "vendor": bearer(personal_token(store.owner)[1]),
        "owned": str(owned.pk),
        "preview": str(preview.pk),
        "for_sale": [str(on_sale(store=store).pk) for _ in range(int(assets))],
    }


def make_shops(assets: str, *names: str) -> dict[str, dict[str, Any]]:
    return {name: make_shop(assets, name) for name in names}


def make_targets() -> dict[str, Any]:
    """Make the shop, and what is attacked besides: long descriptions, and an admin's session with one permission."""
    facts = make_shop()
    staff = UserFactory(is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_listing"))
    session = signed_in(staff).cookies[settings.SESSION_COOKIE_NAME].value
    descriptions = (f"{number} {LINKS}"[:60_000] for number in range(DESCRIPTIONS))
    described = [on_sale(slug=f"described-{number}", description=text).slug for number, text in enumerate(descriptions)]
    return facts | {"staff": {settings.SESSION_COOKIE_NAME: session}, "described": described}
