"""New names for permissions that a database has already: Django names a permission once, when it makes it."""

from typing import Any

from django.db import migrations

# What a migration with these operations runs after.
AFTER = [("auth", "0012_alter_user_first_name_max_length"), ("contenttypes", "0002_remove_content_type_name")]


def rename_permissions(app_label: str, names: dict[str, str]) -> migrations.RunPython:
    """Return the operation that gives permissions of an app, by codename, these names; missing ones are made with them afterwards."""

    def rename(apps: Any, schema_editor: Any) -> None:
        permissions = apps.get_model("auth", "Permission").objects.using(schema_editor.connection.alias)
        for codename, name in names.items():
            permissions.filter(content_type__app_label=app_label, codename=codename).update(name=name)

    return migrations.RunPython(rename, migrations.RunPython.noop)
