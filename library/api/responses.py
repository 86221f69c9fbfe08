"""The response bodies of the library's operations as JSON values, shared by the API and the MCP tools."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from developers.principals import Principal
from marketplace.accounts.models import User

from ..errors import FileBlocked
from ..models import Licence
from ..selectors import current_file, library_page, owned_licence, version_of_file
from ..services.links import issue_link
from ..services.packages import readme_of
from .serializers.library import DownloadLinkAnswer, LibraryPage


def library(user: User, query: Mapping[str, Any], among: QuerySet[Licence] | None = None) -> dict[str, Any]:
    """Return the response of GET library to a validated query, with those of the live licences that are `among` these.

    Raises:
        InvalidInput: the cursor is not valid.
    """
    count, page = library_page(user, limit=query["limit"], cursor=query.get("cursor"), among=among)
    return dict(LibraryPage({"ownedCount": count, "items": page.rows, "nextCursor": page.next_cursor}).data)


def download_link(principal: Principal, asset_id: str, version: str | None) -> dict[str, Any]:
    """Issue a link and return the response of POST library/download/{id}.

    Raises:
        Problem: see `owned_licence` and `issue_link`.
    """
    link = issue_link(licence=owned_licence(principal.user, asset_id), version=version, principal=principal)
    return dict(DownloadLinkAnswer(link).data)


def readme(user: User, asset_id: str) -> str:
    """Return the current README.txt of an owned asset.

    Raises:
        NotFound, NotOwned: see `owned_licence`.
        FileBlocked: a reviewer marked the file as malicious.
    """
    licence = owned_licence(user, asset_id)
    if (deliverable := current_file(licence)) is None:
        raise FileBlocked
    return readme_of(licence.listing, version_of_file(deliverable, licence.listing))
