"""The saved replies that every installation begins with; staff change them in the admin."""

from django.db import migrations

REPLIES = (
    ("application.approve", "What you describe fits the API. Welcome."),
    ("application.ask", "What will your users see of the assets, and where?"),
    ("application.ask", "Which scopes will you need, and for what?"),
    ("application.reject", "We cannot tell from the application what will be built. Apply again with more about it."),
    ("application.reject", "What you describe is not what the API is for."),
    ("metadata_review.accept", "The new name and addresses belong to the same client."),
    ("metadata_review.refuse", "We could not see that the new addresses are the client's own."),
    ("vendor.approve", "The work you show fits the shop. Welcome."),
    ("vendor.reject", "We could not see that the work you show is your own."),
    ("vendor.suspend", "We could not see that the work you show is your own."),
)


def seed(apps, schema_editor):
    model = apps.get_model("review", "SavedReply")
    model.objects.bulk_create([model(use=use, text=text) for use, text in REPLIES])


class Migration(migrations.Migration):
    dependencies = [("review", "0001_initial")]

    operations = [migrations.RunPython(seed, migrations.RunPython.noop)]
