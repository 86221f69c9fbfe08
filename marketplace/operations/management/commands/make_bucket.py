"""`manage.py make_bucket`: the bucket of the settings, where there is none."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from django.core.management.base import BaseCommand, CommandError

from marketplace.core.objects import object_store
from marketplace.core.objects.s3 import S3Store


class Command(BaseCommand):
    """Makes the bucket."""

    help = "Create the S3 bucket named in the settings if it does not exist. Does nothing when files are stored in a local folder."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it, or find it."""
        store = object_store()
        if not isinstance(store, S3Store):
            self.stdout.write("Files are kept in a local folder; no bucket is needed.")
            return
        try:
            there = {bucket["Name"] for bucket in store.client.list_buckets().get("Buckets", ())}
            if store.bucket not in there:
                store.client.create_bucket(Bucket=store.bucket)
        except (BotoCoreError, ClientError) as error:
            raise CommandError(f"The bucket {store.bucket} cannot be created: {error}") from error
        self.stdout.write(f"The bucket {store.bucket} {'already exists' if store.bucket in there else 'was created'}.")
