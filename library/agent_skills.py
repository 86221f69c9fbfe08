"""Skills that agents install: those that everyone can have, those that a user owns, and their files exactly as they were approved."""

import hashlib
import io
import logging
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.core.signing import BadSignature, TimestampSigner
from django.db.models import Q
from django.utils.crypto import constant_time_compare
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from catalog.models import Deliverable, Listing
from catalog.selectors.listings import skill_contents, skills_free_for_all
from developers.principals import Principal
from marketplace.accounts.models import User
from marketplace.core.errors import DependencyUnavailable, NotFound
from marketplace.storage import default_storage

from . import bounds
from .models import Licence
from .selectors import current_file, current_licences_of
from .services.links import issue_link, record_download

_signer = TimestampSigner(salt="library.agent-skills", sep=".")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class AgentSkill:
    """A skill whose archive was approved."""

    listing: Listing
    file: Deliverable
    # `frontmatter`, and `files` as `[path, size in bytes, SHA-256]`.
    contents: Mapping[str, Any]
    # None for a free skill.
    licence: Licence | None = None

    @property
    def name(self) -> str:
        return str(self.contents["frontmatter"]["name"])

    @property
    def description(self) -> str:
        return str(self.contents["frontmatter"]["description"])


def free_skills(slug: str | None = None) -> list[AgentSkill]:
    """Return the skills that everyone can have for nothing, the earliest first; only that of a listing if `slug` is given."""
    listings = skills_free_for_all().select_related("approved_deliverable").order_by("published_at", "id")
    if slug is not None:
        listings = listings.filter(slug=slug)
    return _with_contents((listing, listing.approved_deliverable, None) for listing in listings[: bounds.MAX_AGENT_SKILLS])


def owned_skills(user: User, slug: str | None = None) -> list[AgentSkill]:
    """Return the skills that a user may download now, the newest licence first; only that of a listing if `slug` is given."""
    owned = current_licences_of(user).filter(
        Q(listing__approved_deliverable__technical__container="skill") | Q(deliverable__technical__container="skill"),
        suspended_at__isnull=True,
    )
    if slug is not None:
        owned = owned.filter(listing__slug=slug)
    licences = {
        licence.listing_id: licence
        for licence in owned.select_related("listing__approved_deliverable", "deliverable")[: bounds.MAX_AGENT_SKILLS]
    }
    return _with_contents((licence.listing, current_file(licence), licence) for licence in licences.values())


def skills_by_name(skills: Iterable[AgentSkill]) -> dict[str, AgentSkill]:
    """Return skills by the name under which an agent installs them: their own, or if another skill has it already, the slug of their listing, or its ID."""
    by_name: dict[str, AgentSkill] = {}
    for skill in skills:
        names = (name for name in (skill.name, skill.listing.slug) if name not in by_name)
        by_name[next(names, str(skill.listing.pk))] = skill
    return by_name


def archive_of(skill: AgentSkill, *, principal: Principal | None = None) -> bytes:
    """Return the approved archive, and record the download of an owned one.

    Raises:
        NotFound: it is larger than a skill's archive may be.
        DependencyUnavailable: the stored bytes are not those that were approved.
        LinkRevoked, LicenseSuspended, FileBlocked: the licence or the file changed meanwhile.
    """
    if skill.file.file_size > bounds.AGENT_SKILL_BYTES:
        raise NotFound
    content = b""
    with suppress(FileNotFoundError):
        content = b"".join(default_storage.read(skill.file.object_key, 0, skill.file.file_size))
    if hashlib.sha256(content).hexdigest() != skill.file.sha256:
        logger.error("the stored file %s is not the one that was approved", skill.file.pk)
        raise DependencyUnavailable("The file cannot be read at the moment.")
    if skill.licence is not None:
        record_download(link=issue_link(licence=skill.licence, principal=principal), byte_range="")
    return content


def file_of(skill: AgentSkill, path: str, *, principal: Principal | None = None) -> bytes:
    """Return a file of the approved archive.

    Raises:
        NotFound: the skill has no such file.
        DependencyUnavailable, LinkRevoked, LicenseSuspended, FileBlocked: as for the archive.
    """
    row = next((row for row in skill.contents["files"] if row[0] == path), None)
    if row is None:
        raise NotFound
    _, size, digest = row
    with zipfile.ZipFile(io.BytesIO(archive_of(skill, principal=principal))) as archive, archive.open(path) as file:
        content = file.read(size)
    if hashlib.sha256(content).hexdigest() != digest:
        raise DependencyUnavailable("The file cannot be read at the moment.")
    return content


def token_for(user: User) -> str:
    """Return a token that reads the user's skills, and nothing else, for 15 minutes or until all sessions of the user are ended."""
    return _signer.sign(urlsafe_base64_encode(user.pk.bytes + _digest_of_sessions(user)))


def user_of_token(token: str) -> User:
    """Return the user of a valid token.

    Raises:
        NotFound: the token is not valid, has expired, its user has since changed the password or ended all sessions, or the account was deactivated or deleted.
    """
    try:
        payload = urlsafe_base64_decode(_signer.unsign(token, max_age=bounds.AGENT_SKILLS_TOKEN_SECONDS))
        user_id, sessions = uuid.UUID(bytes=payload[:16]), payload[16:]
    except (BadSignature, ValueError) as error:
        raise NotFound from error
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not constant_time_compare(sessions, _digest_of_sessions(user)):
        raise NotFound
    return user


def _digest_of_sessions(user: User) -> bytes:
    """Return what changes with the password, and when all sessions of the user are ended."""
    return hashlib.sha256(user.get_session_auth_hash().encode()).digest()[:16]


def _with_contents(offered: Iterable[tuple[Listing, Deliverable | None, Licence | None]]) -> list[AgentSkill]:
    """Return the skills whose contents the inspection recorded, in one query."""
    rows = [(listing, file, licence) for listing, file, licence in offered if file is not None]
    contents = skill_contents(file for _, file, _ in rows)
    return [AgentSkill(listing, file, contents[file.sha256], licence) for listing, file, licence in rows if file.sha256 in contents]
