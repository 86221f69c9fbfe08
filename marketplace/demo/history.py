"""The demo's history: sales, a refund, invoices and the usage of an app, written by the ordinary services."""

import math
import random
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django_tasks.base import TaskResultStatus

from catalog.models import LicenseTerms, Listing
from catalog.models.listings import ListingStatus
from catalog.services.taxonomy import publish_terms
from catalog.uses import Use, UseTerms
from developers.models import App
from developers.models.usage import CallerKind
from developers.selectors import apps_of, keys_of
from developers.usage.rows import CallKey, add_to_rows
from library.models import Licence
from marketplace.accounts.models import Tier, User
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from marketplace.jobs.models import Job
from wallet.mails import announce_purchase, announce_refund
from wallet.models import Order
from wallet.selectors import orders_of
from wallet.services.funding import credit_wallet
from wallet.services.invoices import issue_invoices
from wallet.services.offers import PurchaseRequest
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from .clock import clock_at
from .people import APP_NAME, DOMAIN, REASON, People

DAYS = 60
CUSTOMERS = (
    ("Mira Patel", Currency.INR),
    ("Jonas Weber", Currency.USD),
    ("Aiko Tanaka", Currency.USD),
    ("Rahul Menon", Currency.INR),
    ("Sofia Lindgren", Currency.USD),
    ("Imran Qureshi", Currency.INR),
    ("Clara Dubois", Currency.USD),
    ("Neha Joshi", Currency.INR),
    ("Tom Okafor", Currency.USD),
    ("Leela Nair", Currency.INR),
    ("Pedro Santos", Currency.USD),
    ("Farah Khan", Currency.INR),
    ("Hanna Virtanen", Currency.USD),
    ("Arjun Rao", Currency.INR),
)
# How many days ago the second version of the commercial licence's terms was published.
NEW_TERMS_DAY = 20
FUNDS_MINOR = {Currency.INR: 60_000_00, Currency.USD: 900_00}
# The app's calls: operation, scope, share of all calls, and the shares that end with an error, by status.
CALLS: tuple[tuple[str, str, float, dict[int, float]], ...] = (
    ("GET asset-search", "", 0.46, {400: 0.006, 429: 0.01}),
    ("GET asset", "", 0.27, {404: 0.03}),
    ("GET assets", "", 0.14, {}),
    ("GET library", Scope.LIBRARY_READ, 0.08, {503: 0.02}),
    ("POST library-download", Scope.LIBRARY_DOWNLOAD, 0.05, {404: 0.02}),
)


def make_history(people: People, *, until: datetime) -> None:
    """Write the sales, refund, invoices and usage of the days before `until`, once."""
    chance = random.Random("demo")  # noqa: S311 - each demo has the same history
    with transaction.atomic():
        customers = [_customer(number, people.admin, until) for number in range(len(CUSTOMERS))]
        if not any(orders_of(customer).exists() for customer in customers):
            _sell(customers, people.admin, until, chance)
            app = apps_of(people.developer).get(name=APP_NAME)
            _count_calls(app, until, chance)


def _customer(number: int, admin: User, until: datetime) -> User:
    """Return a customer, created if missing: registered two months ago, with funds and without a password."""
    name, currency = CUSTOMERS[number]
    email = f"{name.split()[0].lower()}@{DOMAIN}"
    if found := User.objects.filter(email=email).first():
        return found
    with clock_at(until - timedelta(days=DAYS, hours=number)):
        user = User.objects.create_user(email, None, name=name, tier=Tier.VIP)
        User.objects.filter(pk=user.pk).update(date_joined=until - timedelta(days=DAYS, hours=number))
        credit_wallet(user=user, currency=currency, amount_minor=FUNDS_MINOR[currency], reason=REASON, actor=admin)
    return user


def _sell(customers: list[User], admin: User, until: datetime, chance: random.Random) -> None:
    """Let customers buy what was on sale on each day: more on weekdays, and gradually more over the two months."""
    published = dict(Listing.objects.filter(status=ListingStatus.PUBLISHED).values_list("slug", "published_at"))
    wanted = [(number, slug) for number in range(len(customers)) for slug in sorted(published)]
    chance.shuffle(wanted)
    for day in range(DAYS, 0, -1):
        if day == NEW_TERMS_DAY:
            _publish_terms(admin, until - timedelta(days=day))
        morning = (until - timedelta(days=day)).replace(hour=7, minute=0, second=0, microsecond=0)
        weekday_factor = 1.3 if morning.weekday() < 5 else 0.6
        expected = weekday_factor * (1 + 1.4 * (DAYS - day) / DAYS)
        moments = sorted(morning + timedelta(seconds=chance.randrange(50_000)) for _ in range(int(expected + chance.random())))
        for moment in moments:
            available = [(number, slug) for number, slug in wanted if (published[slug] or until) < moment]
            if available:
                number, slug = available[0]
                wanted.remove(available[0])
                _buy(customers[number], CUSTOMERS[number][1], slug, moment, chance)
        if day % 7 == 1:
            _close_week(morning + timedelta(hours=15), admin, refunding=day == 22)
    bought = Order.objects.filter(pk=OuterRef("order_id")).values("created_at")
    Licence.objects.update(acquired_at=Subquery(bought))
    # Nobody gets mails about past events.
    paths = [announce_purchase.module_path, announce_refund.module_path]
    Job.objects.filter(task_path__in=paths, status=TaskResultStatus.READY).delete()


def _buy(customer: User, currency: Currency, slug: str, moment: datetime, chance: random.Random) -> None:
    tier = chance.choices(["personal", "commercial"], [3, 2])[0]
    with clock_at(moment):
        spend(buyer=customer, purchase=PurchaseRequest(slug, currency, tier))


def _publish_terms(admin: User, moment: datetime) -> None:
    """Publish the second version of the commercial licence's terms, which permits websites with twice as many page views.

    Terms that the operator has written are left alone.
    """
    first = LicenseTerms.objects.filter(tier__slug="commercial").latest("version")
    views = UseTerms.of(first.permissions, Use.WEB_TRAFFIC).quantity
    if views is None or first.version > 1:
        return
    before, after = f"{views:,}", f"{2 * views:,}"
    permissions = {use: said | {"clause": said["clause"].replace(before, after)} for use, said in first.permissions.items()}
    permissions[Use.WEB_TRAFFIC]["quantity"] = 2 * views
    with clock_at(moment):
        terms = LicenseTerms(tier=first.tier, text=first.text.replace(before, after), permissions=permissions)
        publish_terms(terms=terms, changed=["text"], actor=admin)


def _close_week(moment: datetime, admin: User, *, refunding: bool) -> None:
    """Issue the week's invoices, and refund its last sale in one of the weeks."""
    with clock_at(moment):
        order = Order.objects.filter(price_minor__gt=0).order_by("-id").first()
        if refunding and order is not None:
            refund_order(order=order, reason="Bought twice by mistake", actor=admin)
        issue_invoices(until=moment)


def _count_calls(app: App, until: datetime, chance: random.Random) -> None:
    """Count calls with the app's key: a growing number, with a peak in the afternoon."""
    key = keys_of(app).active().order_by("pk")[0]
    counts: dict[CallKey, int] = {}
    for day in range(DAYS, 0, -1):
        moment = until - timedelta(days=day)
        total = (420 if moment.weekday() < 5 else 190) * (1 + 0.9 * (DAYS - day) / DAYS) * chance.uniform(0.8, 1.25)
        # Hours are kept for the last two days only.
        hours = {hour: 1 + math.sin((hour - 8) / 24 * 2 * math.pi) for hour in range(24)} if day <= 2 else {12: 1.0}
        for operation, scope, share, error_shares in CALLS:
            for status, status_share in {200: 1 - sum(error_shares.values()), **error_shares}.items():
                for hour, weight in hours.items():
                    calls = round(total * share * status_share * weight / sum(hours.values()) + chance.random() * (status == 200))
                    if calls:
                        call = CallKey(moment.date(), CallerKind.API_KEY.value, app.pk, key.pk, operation, scope, status, hour)
                        counts[call] = calls
    add_to_rows(counts)
