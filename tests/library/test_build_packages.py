"""manage.py build_packages on a local store: what a buyer would wait for is measured ahead; nothing is built."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from catalog.events import ListingPublished
from catalog.models import Deliverable, Listing
from library.models import DownloadLink, Package
from library.services import building
from library.services.links import issue_link
from marketplace.core.errors import DependencyUnavailable
from marketplace.core.events import emit
from marketplace.core.ids import new_id
from marketplace.jobs.models import Job
from marketplace.storage import default_storage
from marketplace.storage.local import LocalStorage
from tests.eager import drain
from tests.shop import archive, bought, on_sale

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("arguments", [("--dry-run",), ("--prune", "0"), ("--prune", "1000000"), ("--listing", "unknown")])
def test_invalid_arguments_of_build_packages_are_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError) as stopped:
        call_command("build_packages", *arguments)
    assert stopped.value.returncode == 2


def test_damaged_and_missing_files_are_named_and_the_others_made_ready(capsys: pytest.CaptureFixture[str]) -> None:
    whole, damaged, gone, blocked = (on_sale(archive(name), allowed_license_slugs=["personal"]) for name in ("a", "b", "c", "d"))
    Deliverable.objects.filter(listing=damaged).update(crc32=1)
    default_storage.delete(Deliverable.objects.get(listing=gone).object_key)
    Deliverable.objects.filter(listing=blocked).update(blocked_at=blocked.published_at)
    with pytest.raises(CommandError, match="damaged or missing") as stopped:
        call_command("build_packages")
    assert stopped.value.returncode == 1
    assert {damaged.slug, gone.slug} == set(str(stopped.value).rsplit(": ", 1)[1].rstrip(".").split(", "))
    assert [package.deliverable_id for package in Package.objects.all()] == [whole.approved_deliverable_id]
    assert "1 packages of 4 listings are ready." in capsys.readouterr().out


def test_packages_of_a_listing_that_was_deleted_meanwhile_are_not_prepared() -> None:
    emit(ListingPublished(new_id()))
    drain()
    assert not Job.objects.exclude(status="SUCCESSFUL").exists()
    assert not Package.objects.exists()


def test_unavailable_store_is_reported_by_build_packages() -> None:
    on_sale(archive())
    down = patch.object(LocalStorage, "read", side_effect=DependencyUnavailable("The file store cannot be reached."))
    with down, pytest.raises(CommandError, match="cannot be reached") as stopped:
        call_command("build_packages")
    assert stopped.value.returncode == 2


def test_file_is_read_once_for_the_packages_of_all_licences() -> None:
    listing = on_sale(archive())
    with patch.object(LocalStorage, "read", autospec=True, side_effect=LocalStorage.read) as read:
        call_command("build_packages")
        call_command("build_packages", "--listing", listing.slug)
        links = [issue_link(licence=bought(listing, license_slug=slug).buyer.licences.get()) for slug in ("personal", "extended")]
    assert read.call_count == 1
    assert {link.package.object_key for link in links} == {""}
    assert Package.objects.count() == 3


def test_only_packages_that_are_stored_and_that_nobody_has_asked_for_are_removed(capsys: pytest.CaptureFixture[str]) -> None:
    """Packages are stored on S3; here a key stands for one."""
    unused, used, new, unstored, offered = (issue_link(licence=bought(on_sale(archive(name))).buyer.licences.get()) for name in "abcde")
    Listing.objects.exclude(pk=offered.listing_id).update(status="Draft")
    for link in (unused, used, new, offered):
        Package.objects.filter(pk=link.package_id).update(object_key=f"packages/{link.package_id}")
    before = timezone.now() - timedelta(days=31)
    Package.objects.exclude(pk=new.package_id).update(created_at=before)
    DownloadLink.objects.exclude(pk=used.pk).update(issued_at=before)
    call_command("build_packages", "--prune", "30")
    removed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("unused")]
    assert removed == [f"unused, removed: packages/{unused.package_id}"]
    assert set(Package.objects.filter(object_key="").values_list("pk", flat=True)) == {unused.package_id, unstored.package_id}


def test_publication_stands_when_its_package_cannot_be_made(django_capture_on_commit_callbacks: Any) -> None:
    listing = on_sale(archive())
    with patch.object(building, "prepare_packages", side_effect=DependencyUnavailable), django_capture_on_commit_callbacks(execute=True):
        emit(ListingPublished(listing.id))
    listing.refresh_from_db()
    assert listing.status == "Published"
    job = Job.objects.get(task_path="library.jobs.build_published")
    assert (job.status, job.attempts, job.exception_class_path) == ("READY", 1, "marketplace.core.errors.DependencyUnavailable")
    Job.objects.update(run_after=timezone.now())
    assert {done.status for done in drain()} == {"SUCCESSFUL"}
    assert Package.objects.count() == 3
