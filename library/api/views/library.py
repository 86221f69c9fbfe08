"""Endpoints of the caller's library."""

from http import HTTPStatus

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from marketplace.api.serializers import EmptyBody, parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import key_or_bearer
from marketplace.core.scopes import Scope
from marketplace.storage.responses import attachment

from ... import bounds
from ...certificates import certificate_claims, certificate_pdf
from ...errors import FileBlocked, LicenseSuspended, NotOwned
from ...models import Licence
from ...selectors import current_licences_of, owned_licence, owned_versions
from ...services.status_lists import status_list_position
from ...verifiable_credentials import signed_credential
from .. import responses
from ..filters import LibraryFilter
from ..serializers.certificates import Certificate, CertificateQuery
from ..serializers.library import DownloadLinkResponse, DownloadQuery, LibraryPage, LibraryQuery, OwnedVersions

PDF = "application/pdf"
_CERTIFICATES = ("certificate", "certificate_pdf", "credential")


class LibraryViewSet(ApiViewSet):
    """The assets that the caller owns."""

    access = dict.fromkeys(("list", "versions", *_CERTIFICATES), key_or_bearer(Scope.LIBRARY_READ)) | {
        "download": key_or_bearer(Scope.LIBRARY_DOWNLOAD)
    }
    problems = dict.fromkeys(("versions", *_CERTIFICATES), (NotOwned,)) | {"download": (NotOwned, FileBlocked, LicenseSuspended)}
    filters = {"list": LibraryFilter}
    queries = dict.fromkeys(_CERTIFICATES, CertificateQuery) | {"list": LibraryQuery, "download": DownloadQuery}

    @extend_schema(operation_id="listLibrary", summary="List owned assets", responses=LibraryPage)
    def list(self, request: Request) -> Response:
        """List the assets that the caller owns, newest first."""
        user = principal_of(request).user
        return Response(responses.library(user, self.query(), among=self.filtered(current_licences_of(user))[0]))

    @extend_schema(operation_id="createDownloadLink", summary="Get a download link", request=None, responses=DownloadLinkResponse)
    def download(self, request: Request, asset_id: str) -> Response:
        """Create a link to the package of an owned asset. It is valid for 15 minutes and needs no credential."""
        parse_body(EmptyBody, request)
        return Response(responses.download_link(principal_of(request), asset_id, self.query().get("version")))

    @extend_schema(operation_id="listOwnedVersions", summary="List the versions of an owned asset", responses=OwnedVersions)
    def versions(self, request: Request, asset_id: str) -> Response:
        """List the versions of an owned asset, at most the 100 newest, without blocked ones. Those of a suspended licence cannot be downloaded."""
        licence = owned_licence(principal_of(request).user, asset_id)
        versions = owned_versions(licence)[: bounds.LIBRARY_LIMIT]
        return Response(OwnedVersions({"assetId": str(licence.listing_id), "items": versions}).data)

    @extend_schema(operation_id="getCertificate", summary="Get a licence certificate", responses=Certificate)
    def certificate(self, request: Request, asset_id: str) -> Response:
        """Return the signed licence certificate of an owned asset."""
        return Response(responses.certificate(principal_of(request).user, asset_id, self.query().get("license_slug")))

    @extend_schema(
        operation_id="getCertificatePdf",
        summary="Get a licence certificate as PDF",
        responses={(HTTPStatus.OK, PDF): OpenApiTypes.BINARY},
    )
    def certificate_pdf(self, request: Request, asset_id: str) -> HttpResponseBase:
        """Return the licence certificate of an owned asset as a printable PDF."""
        licence = self._licence(asset_id)
        headers = attachment(f"licence-{licence.listing.slug}.pdf")
        return HttpResponse(certificate_pdf(certificate_claims(licence)), content_type=PDF, headers=headers)

    @extend_schema(operation_id="getCredential", summary="Get a verifiable credential", responses=OpenApiTypes.OBJECT)
    def credential(self, request: Request, asset_id: str) -> Response:
        """Return the licence certificate of an owned asset as a W3C Verifiable Credential, with a proof of the cryptosuite eddsa-jcs-2022."""
        licence = self._licence(asset_id)
        return Response(signed_credential(certificate_claims(licence), status_list_position(licence=licence)))

    def _licence(self, asset_id: str) -> Licence:
        return owned_licence(principal_of(self.request).user, asset_id, license_slug=self.query().get("license_slug"))
