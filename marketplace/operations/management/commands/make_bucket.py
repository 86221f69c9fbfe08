"""`manage.py make_bucket`: create the S3 bucket of the settings."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from django.core.management.base import BaseCommand, CommandError

from marketplace.storage import default_storage
from marketplace.storage.s3 import S3Storage


class Command(BaseCommand):
    help = "Create the S3 bucket named in the settings if it does not exist. Does nothing when files are stored in a local folder."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        store = default_storage
        if not isinstance(store, S3Storage):
            self.stdout.write("Files are kept in a local folder; no bucket is needed.")
            return
        try:
            there = {bucket.name for bucket in store.connection.buckets.all()}
            if store.bucket_name not in there:
                store.bucket.create()
        except (BotoCoreError, ClientError) as error:
            raise CommandError(f"The bucket {store.bucket_name} cannot be created: {error}") from error
        self.stdout.write(f"The bucket {store.bucket_name} {'already exists' if store.bucket_name in there else 'was created'}.")
