"""Orders other apps after the migrations of django-oauth-toolkit: each of these renders every model that refers to its models."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("developers", "0002_before_the_toolkit"), ("oauth2_provider", "0021_translatable_field_labels")]
    run_before = [("catalog", "0001_initial")]
    operations: list[object] = []
