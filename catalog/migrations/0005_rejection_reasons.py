"""The catalogue of reasons that reviewers reject with, which staff may change afterwards."""

from django.db import migrations, models

import marketplace.core.ids

REASONS = [
    ("title_misleading", "title", "The title does not say what the asset is.", "Name the asset, without praise or search words."),
    ("summary_unclear", "shortDescription", "The short description does not tell what a buyer gets.", "Say in one sentence what it is."),
    ("description_thin", "description", "The description leaves out what a buyer needs.", "Say what is inside and how it is used."),
    ("category_wrong", "categorySlug", "The asset is in the wrong category.", "Choose the category that buyers would look in."),
    ("tags_misleading", "tags", "Some tags do not describe the asset.", "Remove tags that only attract searches."),
    ("platforms_wrong", "supportedPlatforms", "It does not work in a host tool that is listed.", "List only tools and versions that you tried."),
    ("preview_poor", "previews", "The previews do not show the asset well enough.", "Upload sharp images of the asset in use."),
    ("preview_mismatch", "previews", "The previews show something that is not in the file.", "Show only what buyers get."),
    ("file_broken", "file", "The file cannot be opened or used.", "Test the archive on another machine, then upload it again."),
    ("file_incomplete", "file", "Something that the listing promises is not in the file.", "Add it, or take it out of the text."),
    ("licensing_unclear", "file", "The file holds work of others without a licence for it.", "Remove it, or add its licence."),
    ("copied_work", "file", "The asset is a copy of someone else's work.", "Offer your own work only."),
    ("malicious_file", "file", "The file does harm.", "Upload a clean file."),
    ("pricing_implausible", "basePrice", "The price does not fit the asset.", "Compare with similar assets and correct it."),
    ("readme_missing", "readme", "Buyers need instructions that are not there.", "Write a readme: installation, use, support."),
    ("skill_unsafe", "file", "The skill tells agents to act against their users.", "Remove instructions that hide, exfiltrate or override."),
]


def seed(apps, schema_editor):
    model = apps.get_model("catalog", "RejectionReason")
    for code, field, message, hint in REASONS:
        model.objects.get_or_create(code=code, defaults={"field": field, "message": message, "hint": hint})


class Migration(migrations.Migration):
    dependencies = [("catalog", "0004_versions")]

    operations = [
        migrations.CreateModel(
            name="RejectionReason",
            fields=[
                (
                    "id",
                    models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("code", models.SlugField(max_length=60, unique=True)),
                ("field", models.CharField(blank=True, max_length=60)),
                ("message", models.CharField(max_length=300)),
                ("hint", models.CharField(max_length=300)),
                ("is_active", models.BooleanField(default=True)),
            ],
            options={"ordering": ("field", "code")},
        ),
        migrations.AddField(model_name="deliverable", name="entries", field=models.JSONField(default=list)),
        migrations.AddIndex(
            model_name="deliverable",
            index=models.Index(condition=models.Q(("blocked_at__isnull", False)), fields=["sha256"], name="deliverable_blocked"),
        ),
        migrations.AddIndex(
            model_name="listingreview",
            index=models.Index(condition=models.Q(("status", "Pending")), fields=["submitted_at", "id"], name="listingreview_queue"),
        ),
        migrations.RunPython(seed, migrations.RunPython.noop),
    ]
