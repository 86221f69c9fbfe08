"""Resumable uploads: the tus protocol, and finishing."""

import base64
import hashlib
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient

from catalog.models import Deliverable, Listing
from marketplace.core.access import BEARER_KINDS, Access
from marketplace.core.errors import DependencyUnavailable
from marketplace.core.scopes import Scope
from marketplace.storage import default_storage
from marketplace.storage.local import LocalStorage
from tests.files import makers
from tests.files.helpers import Unread, stored
from vendors import bounds
from vendors.api.views.uploads import TusViews
from vendors.errors import OffsetConflict
from vendors.inspection import inspect_deliverable
from vendors.models import Upload, VendorProfile, VendorStatus
from vendors.services import files
from vendors.services import uploads as services

from .cases import ASSETS, problem

pytestmark = [pytest.mark.django_db, pytest.mark.database_full, pytest.mark.usefixtures("small_parts")]
TUS = {"Tus-Resumable": "1.0.0"}
PART = "application/offset+octet-stream"


def create(client: APIClient, listing: Listing, size: int, name: str = "Aurora.zip", **headers: str) -> Any:
    metadata = f"filetype YXBw,filename {base64.b64encode(name.encode()).decode()}"
    return client.post(f"{ASSETS}/{listing.pk}/tus", headers={**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata, **headers})


def begin(client: APIClient, listing: Listing, size: int) -> str:
    answer = create(client, listing, size)
    assert answer.status_code == 201, answer.content
    address: str = answer["Location"]
    return address


def send(client: APIClient, address: str, offset: int, part: bytes, **headers: str) -> Any:
    return client.patch(address, part, content_type=PART, headers={**TUS, "Upload-Offset": str(offset), **headers})


def offset_of(client: APIClient, address: str) -> int:
    answer = client.head(address, headers=TUS)
    assert (answer.status_code, answer["Cache-Control"], answer.content) == (200, "no-store", b"")
    return int(answer["Upload-Offset"])


def send_all(client: APIClient, address: str, content: bytes) -> None:
    for offset in range(0, len(content), 100):
        answer = send(client, address, offset, content[offset : offset + 100])
        assert (answer.status_code, int(answer["Upload-Offset"])) == (204, min(offset + 100, len(content)))


def finish(client: APIClient, address: str, **headers: str) -> Any:
    return client.post(f"{address.replace('/tus/', '/uploads/')}/finish", headers=headers)


def uploaded(client: APIClient, listing: Listing, content: bytes) -> str:
    """Upload everything; return the address, which is yet to be finished."""
    address = begin(client, listing, len(content))
    send_all(client, address, content)
    return address


def unavailable(*_: object, **__: object) -> None:
    """Stand in for what needs a store or a process."""
    raise DependencyUnavailable


@pytest.mark.slow
def test_upload_in_parts_becomes_the_candidate(
    client: APIClient, listing: Listing, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    content = makers.archive(a_txt="x" * 400)
    created = create(client, listing, len(content), "../up/Aurora 1.0.zip")
    assert (created.status_code, created["Upload-Offset"], created["Tus-Resumable"]) == (201, "0", "1.0.0")
    address = created["Location"]
    send_all(client, address, content)
    with django_capture_on_commit_callbacks(execute=True):
        answer = finish(client, address)
    assert answer.status_code == 200, answer.content
    record, file = answer.json(), Deliverable.objects.get()
    assert (record["id"], record["originalFilename"], record["fileSize"]) == (str(file.pk), "Aurora 1.0.zip", len(content))
    assert record["checksum"] == hashlib.sha256(content).hexdigest()
    listing.refresh_from_db()
    assert listing.candidate_deliverable == file
    assert b"".join(default_storage.read(file.object_key)) == content
    assert stored(media) == [file.object_key]
    assert finish(client, address).json() == record
    assert client.get(address.replace("/tus/", "/uploads/")).json()["fileId"] == record["id"]
    assert client.get("/api/v1/vendor/uploads").json()["total"] == 0


@pytest.mark.slow
def test_upload_continues_where_the_service_says(client: APIClient, listing: Listing) -> None:
    content = makers.archive(a_txt="y" * 300)
    address = begin(client, listing, len(content))
    assert send(client, address, 0, content[:100]).status_code == 204
    assert send(client, address, 50, content[50:100]).json()["offset"] == 100
    listed = client.get("/api/v1/vendor/uploads").json()["items"]
    assert [(each["id"], each["offset"], each["fileId"]) for each in listed] == [(address.rpartition("/")[2], 100, None)]
    rest = content[offset_of(client, address) :]
    for start in range(0, len(rest), 100):
        assert send(client, address, 100 + start, rest[start : start + 100]).status_code == 204
    assert finish(client, address).json()["checksum"] == hashlib.sha256(content).hexdigest()


def test_upload_of_someone_else_is_not_found_and_a_suspended_vendor_cannot_go_on(
    client: APIClient, other_client: APIClient, listing: Listing, media: Path
) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))
    before = stored(media)
    # The other methods: `tests/web/test_others_things.py`.
    assert other_client.head(address, headers=TUS).status_code == 404
    assert other_client.get("/api/v1/vendor/uploads").json()["items"] == []
    VendorProfile.objects.update(status=VendorStatus.SUSPENDED)
    assert problem(send(client, address, 0, b"x" * 50)) == (403, "vendor_not_approved")
    assert stored(media) == before
    assert not Deliverable.objects.exists()


# The contract's table does not have the tus protocol; what a declared access means is in `tests/developers/test_matrix.py`.
def test_resumable_upload_needs_a_token_with_the_scope() -> None:
    assert TusViews.access == dict.fromkeys(("create", "progress", "append", "terminate"), Access(Scope.VENDOR_MANAGE, BEARER_KINDS))


def test_impossible_length_is_refused(client: APIClient, listing: Listing) -> None:
    for length in ("0", "-1", "1e3", "9" * 30):
        assert problem(create(client, listing, 1, **{"Upload-Length": length})) == (400, "invalid_input"), length
    assert problem(create(client, listing, 1, **{"Upload-Length": str(5 * 2**30 + 1)})) == (413, "body_too_large")
    assert not Upload.objects.exists()


def test_listing_under_review_takes_no_upload(client: APIClient, listing: Listing) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))
    Listing.objects.update(status="PendingReview")
    assert problem(create(client, listing, 500)) == (409, "listing_locked")
    assert problem(finish(client, address)) == (409, "listing_locked")
    Listing.objects.update(status="Draft")
    assert finish(client, address).status_code == 200


@pytest.mark.parametrize(
    ("offset", "size", "refusal"),
    [
        (10, 50, (409, "offset_conflict")),
        (0, 101, (413, "body_too_large")),
        (0, 9, (422, "part_too_small")),
        (0, 0, (422, "part_too_small")),
    ],
)
def test_part_that_does_not_fit_is_refused_unread(
    offset: int, size: int, refusal: tuple[int, str], client: APIClient, listing: Listing, media: Path
) -> None:
    address = begin(client, listing, 150)
    environ: dict[str, Any] = {"CONTENT_LENGTH": str(size), "wsgi.input": Unread()}
    answer = client.generic("PATCH", address, "", PART, headers={**TUS, "Upload-Offset": str(offset)}, **environ)
    assert problem(answer) == refusal
    assert answer.json().get("minimumBytes") == (10 if refusal[1] == "part_too_small" else None)
    assert stored(media) == []


def test_part_beyond_the_announced_length_is_refused(client: APIClient, listing: Listing) -> None:
    address = begin(client, listing, 120)
    send(client, address, 0, b"x" * 100)
    assert problem(send(client, address, 100, b"x" * 21)) == (413, "body_too_large")
    assert send(client, address, 100, b"x" * 20).status_code == 204
    assert problem(send(client, address, 120, b"x")) == (413, "body_too_large")


def test_part_that_ends_early_leaves_nothing(client: APIClient, listing: Listing, media: Path) -> None:
    address = begin(client, listing, 150)
    environ: dict[str, Any] = {"CONTENT_LENGTH": "100", "wsgi.input": io.BytesIO(b"x" * 60)}
    answer = client.generic("PATCH", address, "", PART, headers={**TUS, "Upload-Offset": "0"}, **environ)
    assert problem(answer) == (400, "upload_incomplete")
    assert (offset_of(client, address), stored(media)) == (0, [])


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_damaged_part_is_refused_by_its_checksum(algorithm: str, client: APIClient, listing: Listing, media: Path) -> None:
    address = begin(client, listing, 150)
    digest = base64.b64encode(hashlib.new(algorithm, b"x" * 100).digest()).decode()
    answer = send(client, address, 0, b"x" * 99 + b"y", **{"Upload-Checksum": f"{algorithm} {digest}"})
    assert (problem(answer), stored(media)) == ((460, "checksum_mismatch"), [])
    assert send(client, address, 0, b"x" * 100, **{"Upload-Checksum": f"{algorithm} {digest}"}).status_code == 204


def test_unknown_checksum_is_refused(client: APIClient, listing: Listing) -> None:
    address = begin(client, listing, 150)
    for checksum in ("md5 abcd", "sha1", "sha1 %", "\x00"):
        assert send(client, address, 0, b"x" * 100, **{"Upload-Checksum": checksum}).status_code in {400, 460}, checksum
    assert offset_of(client, address) == 0


def test_another_version_of_the_protocol_is_refused(client: APIClient, listing: Listing) -> None:
    answer = create(client, listing, 100, **{"Tus-Resumable": "0.2.2"})
    assert (problem(answer), answer["Tus-Version"]) == ((412, "tus_version_unsupported"), "1.0.0")


def test_post_with_a_method_override_is_treated_as_that_method_and_a_terminated_upload_is_gone_with_its_parts(
    client: APIClient,
    other_client: APIClient,
    listing: Listing,
    media: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    address = begin(client, listing, 150)

    def post(caller: APIClient, method: str, **headers: str) -> Any:
        part = {**TUS, "X-HTTP-Method-Override": method, **headers}
        return caller.post(address, b"x" * 100, content_type=PART, headers=part)

    assert problem(post(other_client, "PATCH", **{"Upload-Offset": "0"})) == (404, "not_found")
    assert post(client, "GET").status_code == 405
    answer = post(client, "PATCH", **{"Upload-Offset": "0"})
    assert (answer.status_code, answer["Upload-Offset"]) == (204, "100")
    with django_capture_on_commit_callbacks(execute=True):
        assert post(client, "DELETE").status_code == 204
    assert client.head(address, headers=TUS).status_code == 404
    assert stored(media) == []


def test_options_of_uploads_name_the_supported_tus_extensions(client: APIClient, anonymous: APIClient, listing: Listing) -> None:
    for path in (f"{ASSETS}/{listing.pk}/tus", begin(client, listing, 100)):
        answer = anonymous.options(path)
        assert (answer.status_code, answer["Tus-Version"], answer["Tus-Max-Size"]) == (204, "1.0.0", str(5 * 2**30))
        assert answer["Tus-Extension"] == "creation,expiration,termination,checksum"


def test_expired_upload_is_not_found_and_purged_with_its_parts(
    client: APIClient, listing: Listing, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    kept = uploaded(client, listing, makers.archive(a_txt="1"))
    parts = stored(media)
    address = uploaded(client, listing, makers.archive(a_txt="2"))
    Upload.objects.filter(pk=address.rpartition("/")[2]).update(expires_at=timezone.now() - timedelta(seconds=1))
    for answer in (client.head(address, headers=TUS), send(client, address, 0, b"x" * 50), finish(client, address)):
        assert answer.status_code == 404
    with django_capture_on_commit_callbacks(execute=True):
        call_command("purge", "uploads")
    assert [each.url for each in Upload.objects.all()] == [kept]
    assert stored(media) == parts


def test_deleted_draft_takes_its_uploads_along(
    client: APIClient, listing: Listing, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    uploaded(client, listing, makers.archive(a_txt="1"))
    with django_capture_on_commit_callbacks(execute=True):
        assert client.delete(f"{ASSETS}/{listing.pk}").status_code == 200
    assert (Upload.objects.count(), stored(media)) == (0, [])


@pytest.mark.slow
def test_unfinished_uploads_of_a_vendor_are_limited(client: APIClient, listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_UNFINISHED_UPLOADS", 2)
    first = begin(client, listing, 100)
    begin(client, listing, 100)
    answer = create(client, listing, 100)
    assert (problem(answer), answer.json()["maximum"]) == ((409, "too_many_uploads"), 2)
    client.delete(first, headers=TUS)
    begin(client, listing, 100)


def test_incomplete_upload_is_not_finished(client: APIClient, listing: Listing) -> None:
    address = begin(client, listing, 150)
    send(client, address, 0, b"x" * 100)
    answer = finish(client, address)
    assert (problem(answer), answer.json()["offset"]) == ((409, "upload_unfinished"), 100)


@pytest.mark.slow
def test_refused_file_leaves_nothing(
    client: APIClient, listing: Listing, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="x" * 50)[:-10])
    with django_capture_on_commit_callbacks(execute=True):
        assert problem(finish(client, address)) == (400, "file_rejected")
    assert client.head(address, headers=TUS).status_code == 404
    assert stored(media) == []
    assert not Deliverable.objects.exists()


@pytest.mark.slow
def test_upload_that_cannot_be_joined_or_inspected_now_can_be_finished_later(
    client: APIClient, listing: Listing, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))
    before = stored(media)
    for where, name in (
        (LocalStorage, "compose"),
        (LocalStorage, "read"),
        (LocalStorage, "fingerprint"),
        (services, "inspect_deliverable"),
    ):
        with monkeypatch.context() as broken:
            broken.setattr(where, name, unavailable)
            assert problem(finish(client, address)) == (503, "dependency_unavailable")
        assert stored(media) == before
    assert finish(client, address).status_code == 200


def test_store_that_fails_during_a_part_keeps_the_offset(
    client: APIClient, listing: Listing, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = begin(client, listing, 150)
    with monkeypatch.context() as broken:
        broken.setattr(LocalStorage, "_open", unavailable)
        assert problem(send(client, address, 0, b"x" * 100)) == (503, "dependency_unavailable")
    assert (offset_of(client, address), stored(media)) == (0, [])


@pytest.mark.slow
def test_interrupted_finish_of_an_upload_records_neither_file_nor_end(
    client: APIClient, listing: Listing, vendor: VendorProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))
    upload = Upload.objects.get()
    keys = upload.part_keys

    class Killed(BaseException):
        pass

    def kill(*deleted: str) -> None:
        if set(deleted) & set(keys):
            raise Killed

    for module in (services, files):
        monkeypatch.setattr(module, "delete_after_commit", kill)
    with pytest.raises(Killed):
        services.finish_upload(upload=upload, actor=vendor.user)
    monkeypatch.undo()
    assert not Deliverable.objects.exists()
    assert finish(client, address).status_code == 200
    assert Deliverable.objects.count() == 1


def test_upload_is_finished_by_one_request_at_a_time(client: APIClient, listing: Listing) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))
    Upload.objects.update(finishing_until=timezone.now() + timedelta(minutes=1))
    begin(client, listing, 1)
    waiting = finish(client, address)
    assert problem(waiting) == (409, "upload_finishing")
    assert int(waiting["Retry-After"]) > 0
    Upload.objects.update(finishing_until=timezone.now() - timedelta(minutes=1))
    assert finish(client, address).status_code == 200


def test_request_that_takes_too_long_to_finish_an_upload_leaves_it_to_its_successor(
    client: APIClient, listing: Listing, vendor: VendorProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))

    def inspect(**_kwargs: Any) -> Any:
        Upload.objects.update(finishing_until=timezone.now() + timedelta(minutes=1))
        raise DependencyUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(services, "inspect_deliverable", inspect)
        with pytest.raises(DependencyUnavailable):
            services.finish_upload(upload=Upload.objects.get(), actor=vendor.user)
    assert problem(finish(client, address)) == (409, "upload_finishing")


@pytest.mark.django_db(transaction=True)
def test_no_database_connection_is_held_while_an_upload_is_joined_and_inspected(
    client: APIClient, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, held = uploaded(client, listing, makers.archive(a_txt="1")), []

    def inspect(**kwargs: Any) -> Any:
        held.append(connection.connection is not None)
        return inspect_deliverable(**kwargs)

    monkeypatch.setattr(services, "inspect_deliverable", inspect)
    assert finish(client, address).status_code == 200
    assert held == [False]


@pytest.mark.slow
def test_expired_upload_that_is_being_finished_is_not_purged(client: APIClient, listing: Listing) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))
    over = timezone.now() - timedelta(seconds=1)
    Upload.objects.update(expires_at=over, finishing_until=timezone.now() + timedelta(minutes=1))
    call_command("purge", "uploads")
    Upload.objects.update(expires_at=timezone.now() + timedelta(hours=1), finishing_until=None)
    assert finish(client, address).status_code == 200
    Upload.objects.update(expires_at=over)
    call_command("purge", "uploads")
    assert not Upload.objects.exists()


@pytest.mark.slow
def test_file_uploaded_during_the_inspection_of_another_is_kept(
    client: APIClient, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))
    inspect = inspect_deliverable

    def meanwhile(**kwargs: Any) -> Any:
        monkeypatch.setattr(services, "inspect_deliverable", inspect)
        client.post(f"{ASSETS}/{listing.pk}/file", makers.form(makers.archive(b_txt="2")))
        return inspect(**kwargs)

    monkeypatch.setattr(services, "inspect_deliverable", meanwhile)
    assert problem(finish(client, address)) == (409, "upload_conflict")
    assert Deliverable.objects.count() == 1
    assert finish(client, address).status_code == 200


def test_upload_deleted_during_its_inspection_becomes_no_file(
    client: APIClient,
    listing: Listing,
    media: Path,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))
    inspect = inspect_deliverable

    def meanwhile(**kwargs: Any) -> Any:
        assert client.delete(address, headers=TUS).status_code == 204
        return inspect(**kwargs)

    monkeypatch.setattr(services, "inspect_deliverable", meanwhile)
    with django_capture_on_commit_callbacks(execute=True):
        assert problem(finish(client, address)) == (404, "not_found")
    assert (Deliverable.objects.exists(), stored(media)) == (False, [])


def test_upload_whose_stored_parts_are_shorter_than_announced_becomes_no_file(
    client: APIClient,
    listing: Listing,
    media: Path,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr(bounds, "MAX_PART_BYTES", bounds.AUDIO_BYTES)
    sound = makers.sound("WAV")
    address = begin(client, listing, len(sound))
    send(client, address, 0, sound)
    path = media / Upload.objects.get().part_keys[-1]
    path.write_bytes(path.read_bytes()[:-2])
    with django_capture_on_commit_callbacks(execute=True):
        assert problem(finish(client, address)) == (400, "file_rejected")
    assert (Upload.objects.exists(), Deliverable.objects.exists(), stored(media)) == (False, False, [])


def test_listing_that_changed_is_not_overwritten(client: APIClient, listing: Listing) -> None:
    address = uploaded(client, listing, makers.archive(a_txt="1"))
    assert problem(finish(client, address, **{"If-Match": '"other"'})) == (412, "precondition_failed")


def test_two_parts_at_one_offset_keep_the_first(client: APIClient, listing: Listing, vendor: VendorProfile, media: Path) -> None:
    address = begin(client, listing, 150)
    upload = Upload.objects.get()
    keys = [services.new_part_key(upload=upload) for _ in range(2)]
    for key in keys:
        default_storage.save_bytes(key, b"x" * 100)
    services.append_part(upload=upload, offset=0, key=keys[0], size=100, actor=vendor.user)
    with pytest.raises(OffsetConflict):
        services.append_part(upload=upload, offset=0, key=keys[1], size=100, actor=vendor.user)
    assert (offset_of(client, address), stored(media)) == (100, [keys[0]])
