"""The names of all columns, as in the database and in the API's spelling, for tests that send them as unexpected input."""

import re

from django.apps import apps

# Stands in no row of any test.
MARK = "set-by-its-name"


def _names() -> set[str]:
    fields = [field for model in apps.get_models(include_auto_created=True) for field in model._meta.concrete_fields]
    plain = {name for field in fields for name in (field.name, field.attname)}
    return plain | {re.sub(r"_(\w)", lambda found: found[1].upper(), name) for name in plain}


COLUMNS = tuple(sorted(_names()))
