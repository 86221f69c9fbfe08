"""Two at once: one stands, the other is told, and nothing is left over."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core import signing
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.utils import timezone

from catalog.models import Category, Deliverable, Listing, ListingIndex, Preview, Store
from catalog.models.files import StorePictureKind
from catalog.services.submission import submit_listing
from catalog.services.transitions import lock_listing
from catalog.services.visibility import listing_changed
from library.models import Favourite
from marketplace.accounts.errors import AccountInUse
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.audit import history_of
from marketplace.core.bounds import GIB
from marketplace.core.errors import NotFound
from marketplace.storage import default_storage
from tests.catalog.cases import draft, submitted
from tests.factories import CategoryFactory, ListingFactory, PublishedListingFactory, UserFactory
from tests.files import makers
from tests.files.helpers import stored
from tests.races import refusals_at_once, until_someone_waits
from tests.waiting import PATIENCE_SECONDS
from tests.wallet.payees import changed_bank_account
from vendors import bounds
from vendors.models import Upload, VendorProfile, VendorStatus
from vendors.previews import ProcessedPreview
from vendors.selectors import unapproved_bytes, uploads_of
from vendors.services import payout_details
from vendors.services.editing import value_hash
from vendors.services.limits import lock_vendor
from vendors.services.listings import create_listing, update_listing
from vendors.services.manifests import generate_manifest
from vendors.services.pictures import update_picture
from vendors.services.profiles import apply, approve_vendor, reinstate_vendor, suspend_vendor, update_store
from vendors.services.store_pictures import attach_store_picture
from vendors.services.uploads import append_part, begin_upload, finish_upload, new_part_key

from .attaching import attach, play, show
from .cases import make_vendor

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

TIMES = 6


def codes_at_once(calls: Sequence[Callable[[], Any]]) -> list[str]:
    """Return the codes that calls which start together are refused with in order, empty for success."""
    return sorted("" if refusal is None else refusal.code for refusal in refusals_at_once(*calls))


def one_stands(code: str) -> list[str]:
    return ["", *[code] * (TIMES - 1)]


def test_user_who_applies_many_times_has_one_profile() -> None:
    user = UserFactory()
    calls = [partial(apply, user=user, store_name="N", store_slug=f"n-{n}", actor=user) for n in range(TIMES)]
    assert codes_at_once(calls) == one_stands("vendor_profile_exists")
    assert (VendorProfile.objects.count(), Store.objects.count()) == (1, 1)


def test_one_of_concurrent_applications_gets_a_store_slug() -> None:
    users = [UserFactory() for _ in range(TIMES)]
    calls = [partial(apply, user=user, store_name="N", store_slug="north", actor=user) for user in users]
    assert codes_at_once(calls) == one_stands("store_slug_taken")
    assert (VendorProfile.objects.count(), Store.objects.count()) == (1, 1)


def test_one_of_concurrent_listings_gets_a_slug() -> None:
    category: Category = CategoryFactory()
    vendors = [make_vendor() for _ in range(TIMES)]

    def create(profile: VendorProfile) -> None:
        create_listing(
            profile=profile,
            actor=profile.user,
            slug="aurora",
            title="A",
            short_description="A.",
            category=category,
            base_price_minor=1,
        )

    assert codes_at_once([partial(create, vendor) for vendor in vendors]) == one_stands("slug_taken")
    assert history_of(Listing.objects.get()).count() == 1


def test_one_of_opposite_concurrent_decisions_on_a_vendor_succeeds() -> None:
    profile = VendorProfile.objects.get(pk=make_vendor(VendorStatus.PENDING).pk)
    admins: list[User] = [UserFactory(), UserFactory()]
    outcomes = codes_at_once(
        [
            lambda: approve_vendor(profile=profile, reason="yes", actor=admins[0]),
            lambda: suspend_vendor(profile=profile, reason="no", actor=admins[1]),
        ]
    )
    profile.refresh_from_db()
    # Suspending may follow approving, not the other way round.
    assert outcomes in (["", ""], ["", "invalid_transition"])
    assert (profile.status, profile.store.is_open) == ("Suspended", False)


def test_one_of_concurrent_uploads_wins_and_the_others_leave_nothing(media: Path) -> None:
    listing = ListingFactory(store=make_vendor().store)
    copies = [Listing.objects.get(pk=listing.pk) for _ in range(TIMES)]
    calls = [partial(attach, copy, b"%d" % n) for n, copy in enumerate(copies)]
    assert codes_at_once(calls) == one_stands("upload_conflict")
    deliverable = Deliverable.objects.get()
    listing.refresh_from_db()
    assert listing.candidate_deliverable == deliverable
    assert set(stored(media)) == {deliverable.object_key}


def begun(size: int) -> Upload:
    listing = ListingFactory(store=make_vendor().store)
    return begin_upload(listing=listing, filename="a.zip", size=size, actor=listing.store.owner)


def append(begun_upload: Upload, content: bytes) -> None:
    """Store a first part and record it, as the view does."""
    key = new_part_key(upload=begun_upload)
    default_storage.save_bytes(key, content)
    append_part(upload=begun_upload, offset=0, key=key, size=len(content), actor=begun_upload.listing.store.owner)


def test_one_of_concurrent_parts_at_one_offset_is_kept_and_the_others_leave_nothing(media: Path) -> None:
    found = begun(100)
    assert codes_at_once([partial(append, found, b"%d" % n * 100) for n in range(TIMES)]) == one_stands("offset_conflict")
    found.refresh_from_db()
    assert (found.offset, stored(media)) == (100, found.part_keys)


def test_concurrent_finishes_of_an_upload_make_one_file(media: Path) -> None:
    content = makers.archive(a_txt="1")
    found = begun(len(content))
    append(found, content)
    copies = [uploads_of(found.listing.store.vendor_profile).get() for _ in range(TIMES)]
    outcomes = codes_at_once([partial(finish_upload, upload=copy, actor=found.listing.store.owner) for copy in copies])
    assert set(outcomes) == {"", "upload_finishing"}
    assert outcomes.count("") == 1
    assert stored(media) == [Deliverable.objects.get().object_key]


def test_upload_that_is_purged_while_a_request_claims_it_stays(media: Path) -> None:
    content = makers.archive(a_txt="1")
    found = begun(len(content))
    append(found, content)
    Upload.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    def purge() -> None:
        try:
            call_command("purge", "uploads")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Upload.objects.update(finishing_until=timezone.now() + timedelta(minutes=1))
            purging = pool.submit(purge)
            until_someone_waits()
        purging.result(PATIENCE_SECONDS)
    assert stored(media) == Upload.objects.get().part_keys


def test_upload_that_is_claimed_while_it_is_purged_is_not_found(media: Path) -> None:
    found = begun(100)
    append(found, b"1" * 100)
    found.refresh_from_db()
    Upload.objects.all().delete()
    with pytest.raises(NotFound):
        finish_upload(upload=found, actor=found.listing.store.owner)
    assert stored(media) == []


def test_concurrent_uploads_of_a_vendor_do_not_exceed_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_UNFINISHED_UPLOADS", 2)
    listing = ListingFactory(store=make_vendor().store)
    begin = partial(begin_upload, listing=listing, filename="a.zip", size=100, actor=listing.store.owner)
    assert codes_at_once([begin] * TIMES).count("") == Upload.objects.count() == 2


def test_concurrent_uploads_to_several_listings_do_not_exceed_the_storage_limit(media: Path, settings: Any) -> None:
    settings.VENDOR_UNAPPROVED_GIB = 1
    profile = make_vendor()
    listings = [ListingFactory(store=profile.store) for _ in range(TIMES)]
    begin_upload(listing=listings[0], filename="a.zip", size=GIB - 250, actor=profile.user)
    uploads = [partial(attach, listing, b"x" * 100) for listing in listings[:3]]
    begins = [partial(begin_upload, listing=listing, filename="a.zip", size=100, actor=profile.user) for listing in listings[3:]]
    assert codes_at_once([*uploads, *begins]) == ["", "", *["unapproved_storage_full"] * (TIMES - 2)]
    assert unapproved_bytes(profile.store) == GIB - 50


def test_concurrent_drafts_of_a_vendor_do_not_exceed_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_DRAFTS", 2)
    profile, category = make_vendor(), CategoryFactory()
    given: dict[str, Any] = {"title": "A", "short_description": "A.", "category": category, "base_price_minor": 1}
    calls = [partial(create_listing, profile=profile, actor=profile.user, slug=f"aurora-{n}", **given) for n in range(TIMES)]
    assert codes_at_once(calls).count("") == Listing.objects.count() == 2


def test_upload_that_begins_beside_others_of_the_listing_and_its_vendors_suspension_does_not_deadlock(media: Path) -> None:
    profile = make_vendor()
    listing = ListingFactory(store=profile.store)
    begin = partial(begin_upload, listing=listing, filename="a.zip", size=100, actor=profile.user)
    suspend = partial(suspend_vendor, profile=profile, reason="Copies.", actor=UserFactory())
    # A deadlock would be an error of the database, which is no refusal.
    outcomes = codes_at_once([begin, partial(play, listing), partial(attach, listing, b"x"), suspend, begin, partial(play, listing)])
    assert set(outcomes) <= {"", "vendor_not_approved"}


def deleted(user: User) -> Any:
    try:
        return delete_account(user=user, reason="Asked for.", actor=None)
    finally:
        connections.close_all()


def test_upload_that_is_recorded_while_its_vendor_deletes_the_account_does_not_deadlock(media: Path) -> None:
    profile = make_vendor()
    listing = ListingFactory(store=profile.store)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            locked = lock_listing(listing.pk)
            deletion = pool.submit(deleted, profile.user)
            until_someone_waits()
            lock_vendor(locked.store)
        assert deletion.result(PATIENCE_SECONDS).deleted
    assert not Listing.objects.exists()


def test_listing_that_is_submitted_while_its_vendor_deletes_the_account_prevents_the_deletion() -> None:
    listing = draft(store=make_vendor().store)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            submitted(listing)
            deletion = pool.submit(deleted, listing.store.owner)
            until_someone_waits()
        with pytest.raises(AccountInUse):
            deletion.result(PATIENCE_SECONDS)
    assert Listing.objects.get().status == "PendingReview"


def test_deletion_does_not_wait_for_a_row_that_is_about_to_refer_to_a_listing() -> None:
    listing, buyer = PublishedListingFactory(store=make_vendor().store), UserFactory()
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        Favourite.objects.create(user=buyer, listing=listing)
        # As its commit does.
        connection.check_constraints()
        with pytest.raises(AccountInUse):
            pool.submit(deleted, listing.store.owner).result(PATIENCE_SECONDS)


def test_previews_of_one_slot_follow_each_other_and_leave_one(media: Path) -> None:
    listing = ListingFactory(store=make_vendor().store)
    assert codes_at_once([partial(show, listing, 0, b"%d" % n) for n in range(TIMES)]) == [""] * TIMES
    assert set(stored(media)) == {Preview.objects.get().object_key}


def test_pictures_that_change_places_at_once_are_all_kept_each_in_a_place_of_its_own(media: Path) -> None:
    listing = ListingFactory(store=make_vendor().store)
    owner = listing.store.owner
    pictures = [show(listing, slot) for slot in range(3)]
    calls = [partial(update_picture, listing=listing, preview_id=pictures[n % 3].pk, slot=(n + 1) % 5, actor=owner) for n in range(TIMES)]
    assert codes_at_once(calls) == [""] * TIMES
    assert set(listing.previews.values_list("pk", flat=True)) == {picture.pk for picture in pictures}
    assert set(stored(media)) == set(listing.previews.values_list("object_key", flat=True))


def test_file_that_is_replaced_during_the_checks_is_not_submitted() -> None:
    listing = ListingFactory(store=make_vendor().store)
    attach(listing, b"first")
    checked = Listing.objects.get(pk=listing.pk)
    checks = [{"name": "file_integrity", "passed": True, "detail": ""}]
    outcomes = codes_at_once(
        [
            lambda: attach(Listing.objects.get(pk=listing.pk), b"second"),
            lambda: submit_listing(listing=checked, checks=checks, actor=listing.store.owner),
        ]
    )
    listing.refresh_from_db()
    # Either the upload was first and the submission is refused, or the other way round.
    assert (outcomes, listing.status) in ((["", "invalid_transition"], "Draft"), (["", "listing_locked"], "PendingReview"))
    if listing.status == "PendingReview":
        assert listing.candidate_deliverable_id == checked.candidate_deliverable_id


def test_concurrent_edits_of_a_listing_are_each_applied_completely() -> None:
    listing = ListingFactory(store=make_vendor().store)
    owner = listing.store.owner
    calls = [partial(update_listing, listing=listing, actor=owner, title=f"T{n}", version=f"{n}") for n in range(TIMES)]
    assert codes_at_once(calls) == [""] * TIMES
    listing.refresh_from_db()
    assert listing.title == f"T{listing.version}"
    assert history_of(listing).count() == TIMES


def test_concurrent_generations_make_one_manifest() -> None:
    listing = ListingFactory(store=make_vendor().store)
    calls = [partial(generate_manifest, listing=listing, actor=listing.store.owner)] * TIMES
    assert codes_at_once(calls) == [""] * TIMES
    assert history_of(listing).count() == 1


def test_upload_that_waits_while_its_vendor_is_suspended_is_refused() -> None:
    profile = make_vendor()
    listing = ListingFactory(store=profile.store)
    suspend = partial(suspend_vendor, profile=profile, reason="Copies.", actor=UserFactory())
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            lock_listing(listing.pk)
            waiting = pool.submit(codes_at_once, [partial(show, listing)])
            until_someone_waits()
            assert pool.submit(codes_at_once, [suspend]).result(PATIENCE_SECONDS) == [""]
        assert waiting.result(PATIENCE_SECONDS) == ["vendor_not_approved"]
    assert not Preview.objects.exists()


def test_suspension_of_a_vendor_does_not_wait_for_a_change_of_a_listing_on_sale() -> None:
    profile = make_vendor()
    listing = PublishedListingFactory(store=profile.store)
    with transaction.atomic():
        listing_changed(listing)
    suspend = partial(suspend_vendor, profile=profile, reason="Copies.", actor=UserFactory())
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        lock_listing(listing.pk)
        assert pool.submit(codes_at_once, [suspend]).result(PATIENCE_SECONDS) == [""]


def test_store_that_two_windows_rename_at_once_keeps_the_first_name() -> None:
    profile = make_vendor()
    seen = value_hash([profile.store.name, profile.bio])
    rename = partial(update_store, profile=profile, actor=profile.user, seen=seen, bio=profile.bio)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            rename(store_name="First")
            waiting = pool.submit(codes_at_once, [partial(rename, store_name="Second")])
            until_someone_waits()
        assert waiting.result(PATIENCE_SECONDS) == ["listing_changed"]
    assert Store.objects.get().name == "First"


def test_logo_that_is_uploaded_while_the_store_is_renamed_leaves_the_new_name_in_lists(media: Path) -> None:
    profile = make_vendor()
    PublishedListingFactory(store=profile.store)
    image = ProcessedPreview(makers.picture(), "image/webp", {}, {})
    show_logo = partial(attach_store_picture, profile=profile, kind=StorePictureKind.LOGO, processed=image, actor=profile.user)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            update_store(profile=profile, actor=profile.user, store_name="New name")
            waiting = pool.submit(codes_at_once, [show_logo])
            until_someone_waits()
        assert waiting.result(PATIENCE_SECONDS) == [""]
    assert ListingIndex.objects.get().store_name == "New name"


def test_vendor_who_is_reinstated_while_the_account_is_deleted_stays_suspended() -> None:
    profile = make_vendor(VendorStatus.SUSPENDED)
    reinstate = partial(reinstate_vendor, profile=profile, reason="By mistake.", actor=UserFactory())
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            delete_account(user=profile.user, reason="Asked for.", actor=None)
            waiting = pool.submit(codes_at_once, [reinstate])
            until_someone_waits()
        assert waiting.result(PATIENCE_SECONDS) == ["invalid_transition"]
    assert not Store.objects.get().is_open


def test_undone_bank_account_of_a_vendor_who_deletes_the_account_does_not_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = make_vendor()
    token = signing.dumps(str(changed_bank_account(profile).pk), salt="vendors.payout-details.undo")
    hold, began = payout_details._hold, []
    with ThreadPoolExecutor(1) as pool:

        def meanwhile(held: VendorProfile) -> None:
            began.append(pool.submit(deleted, profile.user))
            until_someone_waits()
            hold(held)

        monkeypatch.setattr(payout_details, "_hold", meanwhile)
        payout_details.undo_payout_change(token=token)
        assert began[0].result(PATIENCE_SECONDS).deleted
