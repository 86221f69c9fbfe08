"""A permission that has got a new name has it in a database that knew the old one, too."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.db import connection

from marketplace.core.db.permission_names import rename_permissions

MODULES = {
    "accounts": "marketplace.accounts.migrations.0005_permission_names",
    "developers": "developers.migrations.0013_permission_names",
    "jobs": "marketplace.jobs.migrations.0002_permission_names",
    "vendors": "vendors.migrations.0003_permission_names",
    "wallet": "wallet.migrations.0010_permission_names",
}


@pytest.mark.parametrize(("app_label", "module"), MODULES.items(), ids=MODULES)
def test_old_name_of_a_permission_becomes_that_of_the_model_and_no_other_changes(db: None, app_label: str, module: str) -> None:
    names = import_module(module).NAMES
    all_of_them = Permission.objects.filter(content_type__app_label=app_label)
    fresh = dict(all_of_them.values_list("codename", "name"))
    renamed = all_of_them.filter(codename__in=names)
    assert renamed.update(name="Old") == len(names)
    rename: Any = rename_permissions(app_label, names).code
    rename(apps, SimpleNamespace(connection=connection))
    assert dict(all_of_them.values_list("codename", "name")) == fresh
