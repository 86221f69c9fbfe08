"""Lets django-oauth-toolkit migrate before the tables of other apps exist: each of its migrations renders every model related to its own."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("developers", "0002_before_the_toolkit"), ("oauth2_provider", "0021_translatable_field_labels")]
    run_before = [("catalog", "0001_initial")]
    operations = []
