"""Tools of the library."""

from developers.principals import Principal
from library.api import responses
from library.api.rights import AssetRightsRecord, RightsQuery, asset_rights
from library.api.serializers.library import DownloadLinkResponse, DownloadQuery, LibraryPage, LibraryQuery
from library.bounds import DOWNLOAD_LINK_SECONDS
from library.rights import RightsDecision, library_owner
from marketplace.core.scopes import Scope

from .base import Arguments, AssetArgument, Tool, ToolResult, json_of, validated


class DownloadArguments(AssetArgument, DownloadQuery):
    """The asset, and its version."""


class RightsArguments(AssetArgument, RightsQuery):
    """The asset, the use, and how much of it."""


def _check_rights(principal: Principal, arguments: Arguments) -> ToolResult:
    values = validated(RightsArguments, arguments)
    rights = asset_rights(values["assetId"], values, library_owner(principal))
    text = f"{rights.decision}: {RightsDecision(rights.decision).label}."
    if rights.license_slug is not None:
        text += f" Licence: {rights.license_slug}. Quote its clause to the user."
    return ToolResult(rights.json_bytes(), text)


def _list_library(principal: Principal, arguments: Arguments) -> ToolResult:
    body = responses.library(principal.user, validated(LibraryQuery, arguments))
    more = " Send nextCursor as cursor for the next page." if body["nextCursor"] else ""
    return ToolResult(json_of(body), f"{len(body['items'])} of {body['ownedCount']} owned licences, newest first.{more}")


def _get_download_link(principal: Principal, arguments: Arguments) -> ToolResult:
    values = validated(DownloadArguments, arguments)
    body = responses.download_link(principal, values["assetId"], values.get("version"))
    text = f"{body['fileName']}, {body['size']} bytes: fetch downloadUrl before {body['expiresAt']}; it needs no credential, so keep it private."
    return ToolResult(json_of(body), text)


TOOLS = (
    Tool(
        name="check_rights",
        title="Check rights",
        description="Whether an asset may be used for something, such as a print run of 5,000 copies: yes under a licence that the user owns, with "
        "which licence on sale otherwise, or no; unclear means that the terms don't mention it and the vendor must be asked, or that a licence of the "
        "user is suspended. Each licence comes with the clause that decides. Call it before buy_asset, and buy the licence that it names.",
        scope=None,
        arguments=RightsArguments,
        result=AssetRightsRecord,
        run=_check_rights,
    ),
    Tool(
        name="list_library",
        title="List the library",
        description="The licences that the user owns, newest first, with asset, order and version. An asset under two licences is listed twice.",
        scope=Scope.LIBRARY_READ,
        arguments=LibraryQuery,
        result=LibraryPage,
        run=_list_library,
    ),
    Tool(
        name="get_download_link",
        title="Get a download link",
        description="A link to the package of an asset that the user owns: the file with README.txt and LICENSE.txt in a zip. It works for "
        f"{DOWNLOAD_LINK_SECONDS // 60} minutes, without a credential. The checksum is that of the package.",
        scope=Scope.LIBRARY_DOWNLOAD,
        arguments=DownloadArguments,
        result=DownloadLinkResponse,
        run=_get_download_link,
        # Each link is recorded.
        read_only=False,
        idempotent=False,
    ),
)
