"""The logo and the banner of a store."""

from django.db import transaction

from catalog.models import StorePicture
from catalog.models.files import StorePictureKind
from catalog.services.visibility import store_edited
from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition, NotFound
from marketplace.core.ids import new_id
from marketplace.core.transitions import lock_for_decision
from marketplace.ui.mail import mail

from ..models import VendorProfile
from ..previews import ProcessedPreview
from .files import contents_of, delete_after_commit, keys_of, object_fields, stored_objects
from .profiles import lock_approved

FOLDER = "stores/"


def attach_store_picture(*, profile: VendorProfile, kind: StorePictureKind, processed: ProcessedPreview, actor: User) -> StorePicture:
    """Store a processed image as a picture of the store; it replaces the present one of that kind.

    Raises:
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    picture_id = new_id()
    picture = StorePicture(pk=picture_id, kind=kind, **object_fields(processed, f"{FOLDER}{picture_id}"))
    with stored_objects(contents_of(picture, processed)), transaction.atomic():
        profile = lock_approved(profile)
        picture.store = profile.store
        _delete(StorePicture.objects.filter(store=profile.store_id, kind=kind).first())
        picture.save()
        store_edited(profile.store)
        audit.record("vendor.upload_picture", profile, actor=actor, kind=kind, sha256=picture.sha256)
    return picture


@transaction.atomic
def remove_store_picture(*, profile: VendorProfile, kind: StorePictureKind, actor: User) -> StorePicture:
    """Remove a picture of the store; its objects are deleted after the commit.

    Raises:
        NotFound: there is none.
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    profile = lock_approved(profile)
    picture = StorePicture.objects.filter(store=profile.store_id, kind=kind).first()
    if picture is None:
        raise NotFound
    _delete(picture)
    store_edited(profile.store)
    audit.record("vendor.remove_picture", profile, actor=actor, kind=kind, sha256=picture.sha256)
    return picture


@transaction.atomic
def take_pictures_down(*, profile: VendorProfile, reason: str, actor: User) -> None:
    """Remove the pictures of a vendor's store, and tell the vendor why.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: there are none.
        SelfReview: the actor owns the store.
    """
    reason = texts.clean_text(reason, "reason")
    profile = lock_for_decision(VendorProfile.objects.all(), pk=profile.pk, owner="user_id", actor=actor)
    pictures = list(StorePicture.objects.filter(store=profile.store_id))
    if not pictures:
        raise InvalidTransition("The store has no pictures any more.")
    for picture in pictures:
        _delete(picture)
    store_edited(profile.store)
    audit.record("vendor.take_pictures_down", profile, actor=actor, reason=reason, sha256=[picture.sha256 for picture in pictures])
    mail(profile.user, "vendors/pictures_removed", store=profile.store, reason=reason)


def _delete(picture: StorePicture | None) -> None:
    if picture is not None:
        StorePicture.objects.filter(pk=picture.pk).delete()
        delete_after_commit(*keys_of(picture))
