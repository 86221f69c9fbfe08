"""Tools of the library."""

from developers.principals import Principal
from library.api import responses
from library.api.serializers.library import DownloadLinkAnswer, DownloadQuery, LibraryPage, LibraryQuery
from marketplace.core.scopes import Scope

from .base import Arguments, AssetArgument, Effects, Tool, ToolResult, json_of, validated


class DownloadArguments(AssetArgument, DownloadQuery):
    """The asset, and its version."""


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
        "15 minutes, without a credential. The checksum is that of the package.",
        scope=Scope.LIBRARY_DOWNLOAD,
        arguments=DownloadArguments,
        result=DownloadLinkAnswer,
        run=_get_download_link,
        # Each link is recorded.
        effects=Effects(reads_only=False, idempotent=False),
    ),
)
