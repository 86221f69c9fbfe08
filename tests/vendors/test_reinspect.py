"""Looking into stored files again: what is said of them follows the inspector, the files stay."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from catalog.catalog_version import current_version
from catalog.manifests import ensure_manifest
from catalog.models import AgentManifest, Deliverable, FileFacts, Listing
from marketplace.core.errors import DependencyUnavailable
from marketplace.core.models import AuditEntry
from marketplace.storage.local import LocalStorage
from tests.callers import said
from tests.factories import DeliverableFactory
from tests.files import makers
from tests.files.helpers import recorded
from tests.shop import on_sale
from vendors.inspection import inspect_deliverable
from vendors.services import reinspecting
from vendors.services.reinspecting import differences

pytestmark = [pytest.mark.django_db, pytest.mark.database]


run = partial(said, "reinspect")


def fonts() -> bytes:
    return makers.zipped({"Tiny.ttf": makers.font()})


def test_reinspect_keeps_the_details_of_a_file_that_it_refuses_and_fails() -> None:
    deliverable = recorded(b"<html>")
    with pytest.raises(CommandError, match="1 files could not"):
        run()
    assert Deliverable.objects.get(pk=deliverable.pk).technical == deliverable.technical


def test_reinspect_reports_a_missing_file_and_inspects_the_others() -> None:
    lost, found = DeliverableFactory(), recorded(fonts())
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("reinspect", stdout=out)
    assert f"missing: {lost.pk}" in out.getvalue()
    assert Deliverable.objects.get(pk=found.pk).technical["glyphCount"] == 3


def test_reinspect_stops_if_the_store_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        recorded(fonts())

    def refuse(*_: Any) -> Any:
        raise DependencyUnavailable("The disk is gone.")

    monkeypatch.setattr(LocalStorage, "read", refuse)
    with pytest.raises(CommandError, match="The disk is gone"):
        run()


def test_cached_comparison_follows_the_facts_of_an_earlier_version(media: Path) -> None:
    listing = on_sale(fonts())
    content = makers.zipped({"Tiny.ttf": makers.font(), "new.txt": b"x"})
    earlier = recorded(content, listing=listing, version="0.9", approved_at=timezone.now() - timedelta(days=1))
    run()
    FileFacts.objects.filter(sha256=earlier.sha256).delete()
    address = f"/api/v1/assets/{listing.slug}/changes"
    assert Client().get(address).json()["comparable"] is False
    run()
    assert Client().get(address).json()["comparable"] is True


def test_unknown_listing_and_format_are_refused() -> None:
    for words in (["--listing", "nobody"], ["--listing", "no slug!"], ["--format", "exe"]):
        with pytest.raises(CommandError):
            run(*words)


def test_reinspect_updates_the_details_and_not_the_file(media: Path) -> None:
    deliverable = on_sale(fonts()).approved_deliverable
    assert deliverable is not None
    path = media / deliverable.object_key
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    ensure_manifest(deliverable.listing)
    shown = current_version()
    said = run()
    renewed = Deliverable.objects.get(pk=deliverable.pk)
    assert (renewed.technical["glyphCount"], renewed.technical["scripts"]) == (3, ["Latin"])
    assert (renewed.sha256, renewed.object_key, renewed.file_size) == (deliverable.sha256, deliverable.object_key, deliverable.file_size)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert "new: encrypted, familyNames, glyphCount, members, scripts, variableAxes" in said
    assert "1 manifests are stale" in said
    assert current_version() != shown
    assert AuditEntry.objects.get(action="listing.reinspect_file").actor_id is None
    manifest = AgentManifest.objects.get(listing=deliverable.listing)
    assert manifest.body["technical"]["glyphCount"] == 0
    assert ensure_manifest(Listing.objects.get(pk=deliverable.listing_id)).body["technical"]["glyphCount"] == 3


def test_differences_of_technical_details_are_new_gone_or_changed() -> None:
    before, after = {"axes": [], "family": "A", "scripts": 1}, {"family": "A", "scripts": 2, "width": 5}
    assert differences(before, after) == "new: width; gone: axes; changed: scripts"


def test_dry_run_of_reinspect_and_a_second_run_change_nothing() -> None:
    deliverable = recorded(fonts())
    assert "1 changed (nothing was recorded)" in run("--dry-run")
    assert Deliverable.objects.get(pk=deliverable.pk).technical == deliverable.technical
    assert not AuditEntry.objects.exists()
    assert "1 changed" in run()
    assert run() == "1 files: 1 unchanged; 0 manifests are stale.\n"
    assert AuditEntry.objects.filter(action="listing.reinspect_file").count() == 1


def test_reinspect_inspects_only_the_given_formats_and_listings() -> None:
    archive, font = recorded(fonts()), recorded(makers.font(), format="ttf")
    assert run("--format", "ttf", "--dry-run").startswith(f"changed: {font.pk}")
    assert run("--listing", archive.listing.slug, "--dry-run").startswith(f"changed: {archive.pk}")
    assert "2 files" in run("--format", "ttf", "--format", "zip", "--dry-run")


def test_file_deleted_during_reinspect_is_not_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    deliverable = recorded(fonts())
    read = LocalStorage.read

    def remove_and_read(store: LocalStorage, *words: Any) -> Any:
        Deliverable.objects.filter(pk=deliverable.pk).delete()
        return read(store, *words)

    monkeypatch.setattr(LocalStorage, "read", remove_and_read)
    assert "1 overtaken" in run()


def test_draft_deleted_during_the_inspection_of_its_file_does_not_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    draft, other = recorded(fonts()), recorded(fonts())

    def meanwhile(**words: Any) -> Any:
        Listing.objects.filter(pk=draft.listing_id).delete()
        return inspect_deliverable(**words)

    monkeypatch.setattr(reinspecting, "inspect_deliverable", meanwhile)
    assert "1 changed, 1 overtaken" in run()
    assert set(Deliverable.objects.all()) == {other}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_concurrent_reinspections_record_each_change_once() -> None:
    for _ in range(4):
        recorded(fonts())

    def once(_: int) -> str:
        try:
            return run()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(once, range(2)))
    assert all("4 files" in each for each in said)
    assert AuditEntry.objects.filter(action="listing.reinspect_file").count() == 4
