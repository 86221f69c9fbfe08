"""The database itself refuses a value that is none of a field's choices."""

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from tests.ops.person import Person
from tests.shop import bought, on_sale
from wallet.models import ExchangeRate

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
    Person()
    bought(on_sale(tags=["serif"]))
    ExchangeRate.objects.create(currency="USD", tax_currency="INR", rate=80, valid_from=timezone.now().date())


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
