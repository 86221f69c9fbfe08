"""Download links: issued to the holder of a licence, valid for `bounds.DOWNLOAD_LINK_SECONDS`.

Each use checks the licence, its holder and the file, but not the credential that asked for the link. A use may redirect to an address of
the object store, which works for `bounds.PRESIGNED_LINK_SECONDS` whatever happens to the licence.
"""

import uuid
from datetime import timedelta

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from catalog.selectors.listings import version_of_file
from developers.principals import Principal
from marketplace.core.ids import current_request_id
from marketplace.core.transitions import lock

from .. import bounds
from ..errors import FileBlocked, LicenseSuspended, LinkExpired, LinkInvalid, LinkRevoked, NotOwned
from ..models import Download, DownloadLink, Licence
from ..selectors import current_file, owned_version
from .building import prepare_package

_signer = Signer(salt="library.download", sep=".")
_RANGE_CHARS = 100


def issue_link(*, licence: Licence, version: str | None = None, principal: Principal | None = None) -> DownloadLink:
    """Issue a link to the package of a current licence, by default with the newest version, and record its user and credential.

    Our own pages have no credential.

    Raises:
        FileBlocked: a reviewer marked the file as malicious.
        LicenseSuspended: the payment is disputed.
        NotFound, NotOwned: there is no such version, the licence does not cover it, or nobody has claimed the licence.
    """
    if licence.holder_id is None:
        raise NotOwned
    if licence.suspended_at is not None:
        raise LicenseSuspended
    deliverable = current_file(licence) if version is None else owned_version(licence, version)
    if deliverable is None:
        raise FileBlocked
    # Before the link is issued, since preparing the package of a large file takes time.
    package = prepare_package(licence=licence, deliverable=deliverable)
    now = timezone.now()
    label = version_of_file(deliverable, licence.listing)
    return DownloadLink.objects.create(
        user_id=licence.holder_id,
        app=None if principal is None else principal.app,
        credential_kind="" if principal is None else principal.kind,
        credential_id=None if principal is None else principal.credential.id,
        licence=licence,
        listing=licence.listing,
        deliverable=deliverable,
        package=package,
        file_name=_file_name(licence.listing.slug, label),
        version=label,
        issued_at=now,
        expires_at=now + timedelta(seconds=bounds.DOWNLOAD_LINK_SECONDS),
        request_id=current_request_id(),
    )


def url_of(link: DownloadLink) -> str:
    """Return the absolute address of a link."""
    token = _signer.sign(urlsafe_base64_encode(link.id.bytes))
    return settings.BASE_URL + reverse("library-package", args=[token])


def open_link(*, token: str) -> DownloadLink:
    """Return the link of a token, if it is valid now.

    Raises:
        LinkInvalid: the token is not valid.
        LinkExpired: the link has expired.
        LinkRevoked: the licence was revoked or replaced, or its holder's account is deactivated or deleted.
        LicenseSuspended: the payment is disputed.
        FileBlocked: a reviewer marked the file as malicious meanwhile.
    """
    related = ("package__deliverable", "deliverable", "licence", "user")
    link = DownloadLink.objects.select_related(*related).filter(pk=_link_id(token)).first()
    if link is None:
        raise LinkInvalid
    if timezone.now() >= link.expires_at:
        raise LinkExpired
    if not link.user.is_active:
        raise LinkRevoked
    _require_usable(link.licence)
    if link.deliverable.blocked_at is not None or link.package.deliverable.blocked_at is not None:
        raise FileBlocked
    return link


@transaction.atomic
def record_download(*, link: DownloadLink, byte_range: str) -> Download:
    """Record a request through a link; the licence is locked, so that a concurrent refund comes either before it or after it.

    Raises:
        LinkRevoked: the licence was revoked or replaced meanwhile.
        LicenseSuspended: its payment was disputed meanwhile.
    """
    _require_usable(lock(Licence.objects.all(), pk=link.licence_id))
    return Download.objects.create(link=link, byte_range=byte_range[:_RANGE_CHARS], request_id=current_request_id())


def _require_usable(licence: Licence) -> None:
    if not licence.is_current:
        raise LinkRevoked
    if licence.suspended_at is not None:
        raise LicenseSuspended


def _link_id(token: str) -> uuid.UUID:
    try:
        return uuid.UUID(bytes=urlsafe_base64_decode(_signer.unsign(token)))
    except (BadSignature, ValueError) as error:
        raise LinkInvalid from error


def _file_name(slug: str, version: str) -> str:
    """Return `slug-version-package.zip`. A vendor writes the version, so what some file system may refuse in it becomes a hyphen."""
    label = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in version).strip("-.")
    return f"{slug}-{label}-package.zip" if label else f"{slug}-package.zip"
