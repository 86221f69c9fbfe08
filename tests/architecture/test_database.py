"""The database itself refuses a value that is none of a field's choices."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from catalog.models import Deliverable, FilePreview, StorePicture
from developers.event_types import EventType
from developers.models import ApiUsage, MetadataReview
from developers.services.apps import create_app
from developers.services.credentials import issue_token_without_app
from developers.services.spending import LimitValues, set_spending_limit
from developers.services.webhooks import create_endpoint, send_test_event
from marketplace.accounts.models import MailOptOut
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from tests.catalog.cases import submitted
from tests.contract import scenes
from tests.factories import AppFactory, connect_app
from tests.review.cases import appealed
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from tests.wallet import invoice_cases
from tests.wallet.approval_cases import bounded
from tests.wallet.approval_cases import requested_approval as asked_to_approve
from tests.wallet.payees import account_of, paid_payout, payee
from tests.wallet.refund_request_cases import requested_refund as asked_to_refund
from tests.wallet.top_up_cases import deliver_event, paid_top_up
from tests.wallet.wallet_payout_cases import requested_payout
from wallet.models import ExchangeRate, WalletSettings
from wallet.models.top_ups import EventKind

from .source import PACKAGES

pytestmark = pytest.mark.database

# Fields without a constraint of ours, each with the reason.
UNGUARDED = {
    "developers.App.client_type": "the OAuth library declares it and reads it",
    "developers.App.authorization_grant_type": "the OAuth library declares it and reads it",
    "developers.App.algorithm": "the OAuth library declares it and reads it",
    "developers.App.registration_source": "the OAuth library declares it and reads it",
}
FIELDS = {
    f"{model._meta.label}.{field.name}": (model, field)
    for model in apps.get_models()
    if model.__module__.split(".")[0] in PACKAGES
    for field in model._meta.local_fields
    if field.choices
}


@pytest.fixture
def rows(db: None) -> None:
    """At least one row of every model that has a state or a kind."""
    developer = scenes.developer().user
    app = create_app(user=developer, name="Font browser", purpose="Browsing", scopes={Scope.CATALOG_READ: "To read"}, actor=developer)
    connect_app(developer, app, frozenset({Scope.CATALOG_READ}))
    set_spending_limit(owner=developer, spender=app, limit_values=LimitValues(Currency.USD, total_minor=1000), actor=developer)
    endpoint, _ = create_endpoint(app=AppFactory(), url="https://app.example/hook", events=[EventType.ASSET_PUBLISHED], actor=developer)
    send_test_event(endpoint=endpoint, actor=developer)
    MetadataReview.objects.create(app=app, host="client.example", reviewed={}, latest={})
    StorePicture.objects.create(
        store=make_vendor().store, kind="Logo", object_key="stores/one", content_type="image/webp", size=1, sha256=""
    )
    file = Deliverable.objects.get(listing=submitted())
    FilePreview.objects.create(deliverable=file, kind="FontStyle", position=0, object_key="previews/a", size=1)
    appealed()
    buyer = scenes.link().user
    WalletSettings.objects.create(owner=buyer)
    MailOptOut.objects.create(user=buyer, topic="sale")
    vendor = payee()
    bought(on_sale(store=vendor.store))
    paid_payout(account_of(vendor))
    requested_payout(funded(inr=100))
    asked_to_approve(bounded(funded(inr=1_000_000)))
    deliver_event(paid_top_up(), EventKind.DISPUTED)
    asked_to_refund()
    invoice_cases.operator()
    bought(on_sale())
    invoice_cases.issue()
    ExchangeRate.objects.create(currency="USD", tax_currency="INR", rate=80, valid_from=timezone.now().date())
    day = timezone.now().date()
    ApiUsage.objects.create(day=day, kind="personal", credential_id=buyer.pk, operation="GET wallet", status=200, calls=1)
    issue_token_without_app(
        user=developer,
        name="laptop",
        scopes=frozenset({Scope.ACCOUNT_READ}),
        expires_at=timezone.now() + timedelta(days=1),
        actor=developer,
    )


def test_exempted_choice_fields_exist() -> None:
    assert set(UNGUARDED) <= set(FIELDS)


def test_unknown_choice_is_refused(rows: None, subtests: pytest.Subtests) -> None:
    for name in sorted(set(FIELDS) - set(UNGUARDED)):
        model, field = FIELDS[name]
        with subtests.test(name):
            row = model._default_manager.first()
            assert row is not None, f"no row of {model._meta.label} to try it on"
            assert isinstance(field, models.CharField)
            with pytest.raises(IntegrityError), transaction.atomic():
                model._default_manager.filter(pk=row.pk).update(**{field.name: "?"})
