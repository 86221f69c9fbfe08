"""Orders the models that replace those of django-oauth-toolkit before its migrations, as its documentation requires."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("developers", "0001_initial")]
    run_before = [("oauth2_provider", "0001_initial")]
    operations = []
