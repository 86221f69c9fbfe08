"""`manage.py doctor`: check the whole installation and say how to fix what is wrong."""

import json
from argparse import ArgumentParser
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.operations.doctor import Finding, Status, examine


class Command(BaseCommand):
    help = (
        "Check settings, database, constraints, clock, cache, file store, mail, workers, search index, disk, keys, static "
        "files and backups. Each result is ok, warn or fail, with what to do. Writes one small file to the file store and deletes it "
        "again. Exit status: 0 nothing failed, 1 something did."
    )
    # The command runs the system checks itself.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print a JSON list instead of lines")
        parser.add_argument("--backups", type=Path, metavar="DIR", help="folder of backups; checks the age of the newest")

    def handle(self, *args: Any, **options: Any) -> None:
        findings = []
        for finding in examine(backup_folder=options["backups"]):
            findings.append(finding)
            if not options["json"]:
                self._print(finding)
        if options["json"]:
            self.stdout.write(json.dumps([asdict(finding) for finding in findings], indent=2))
        counts = Counter(finding.status for finding in findings)
        if counts[Status.FAIL]:
            raise CommandError(f"{counts[Status.FAIL]} failed, {counts[Status.WARN]} warnings.")
        if not options["json"]:
            self.stdout.write(self.style.SUCCESS(f"Nothing failed, {counts[Status.WARN]} warnings."))

    def _print(self, finding: Finding) -> None:
        style = {Status.OK: self.style.SUCCESS, Status.WARN: self.style.WARNING, Status.FAIL: self.style.ERROR}[finding.status]
        self.stdout.write(f"{style(f'{finding.status:<4}')} {finding.part:<13} {finding.message}")
        if finding.remedy:
            self.stdout.write(f"{'':<18} → {finding.remedy}")
