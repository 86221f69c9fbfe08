"""The response bodies of the library's operations as JSON values, shared by the API and the MCP tools."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from developers.principals import Principal
from marketplace.accounts.models import User

from ..certificates import certificate_claims, signed_certificate
from ..models import Licence
from ..selectors import current_licences_of, library_page, licence_to_download, owned_licence
from ..services.links import issue_link, record_download
from ..services.packages import readme_of
from .serializers.certificates import Certificate
from .serializers.library import DownloadLinkResponse, LibraryPage


def library(user: User, query: Mapping[str, Any], *, among: QuerySet[Licence] | None = None) -> dict[str, Any]:
    """Return the response of GET library to a validated query: a page of the user's current licences, or only of those in `among`.

    Raises:
        InvalidInput: the cursor is not valid.
    """
    owned = current_licences_of(user)
    page = library_page(owned if among is None else among, **query)
    return dict(LibraryPage({"ownedCount": owned.count(), "items": page.rows, "nextCursor": page.next_cursor}).data)


def download_link(principal: Principal, asset_id: str, version: str | None) -> dict[str, Any]:
    """Issue a link and return the response of POST library/download/{id}.

    Raises:
        Problem: see `licence_to_download` and `issue_link`.
    """
    licence = licence_to_download(principal.user, asset_id, version=version)
    link = issue_link(licence=licence, version=version, principal=principal)
    return dict(DownloadLinkResponse(link).data)


def certificate(user: User, asset_id: str, license_slug: str | None = None) -> dict[str, Any]:
    """Return the response of GET library/{id}/certificate, for the licence that `owned_licence` chooses.

    Raises:
        NotFound, NotOwned: see `owned_licence`.
    """
    return dict(Certificate(signed_certificate(certificate_claims(owned_licence(user, asset_id, license_slug=license_slug)))).data)


def readme(principal: Principal, asset_id: str) -> str:
    """Return the current README.txt of an owned asset, and record a download: it is a part of the package.

    Raises:
        Problem: see `licence_to_download`, `issue_link` and `record_download`.
    """
    link = issue_link(licence=licence_to_download(principal.user, asset_id), principal=principal)
    record_download(link=link, byte_range="")
    return readme_of(link.listing, link.version)
