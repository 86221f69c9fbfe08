"""Tells which constraint an IntegrityError comes from, on both engines."""

from typing import Any, cast

from django.db import IntegrityError, models


def violates(error: IntegrityError, model: type[models.Model], constraint: str) -> bool:
    """Tell whether `error` came from the model's constraint of this name.

    PostgreSQL names the constraint; SQLite names a check by its name and a unique one by its columns.
    """
    diagnosis = getattr(error.__cause__, "diag", None)
    if diagnosis is not None:
        return bool(diagnosis.constraint_name == constraint)
    rule = next(rule for rule in model._meta.constraints if rule.name == constraint)
    if isinstance(rule, models.UniqueConstraint):
        columns = (cast("models.Field[Any, Any]", model._meta.get_field(field)).column for field in rule.fields)
        return str(error) == "UNIQUE constraint failed: " + ", ".join(f"{model._meta.db_table}.{column}" for column in columns)
    return str(error) == f"CHECK constraint failed: {constraint}"
