"""Public endpoints that verify certificates, without a credential."""

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import PUBLIC
from marketplace.core.errors import NotFound

from ... import bounds, signatures
from ...certificates import check_certificate, licence_of_certificate
from ...verifiable_credentials import status_list
from ..serializers.certificates import CertificateState, CertificateToCheck, CertificateVerdict, SigningKeys

# A refund invalidates a certificate at once.
_NO_STORE = {"Cache-Control": "no-store"}
# Verifiers in a browser read the lists from pages of any origin.
_STATUS_LIST = {"Cache-Control": f"public, max-age={bounds.STATUS_LIST_SECONDS}", "Access-Control-Allow-Origin": "*"}


class CertificateViewSet(ApiViewSet):
    """Verifies licence certificates, for anyone."""

    access = {"keys": PUBLIC, "verify": PUBLIC, "retrieve": PUBLIC, "status_list": PUBLIC}
    problems = {"retrieve": (NotFound,), "status_list": (NotFound,)}

    @extend_schema(operation_id="listCertificateKeys", summary="List the signing keys", responses=SigningKeys)
    def keys(self, request: Request) -> HttpResponseBase:
        """Return the public keys, to verify signatures offline."""
        return Response(signatures.public_keys(), headers={"Cache-Control": "public, max-age=3600"})

    @extend_schema(
        operation_id="verifyCertificate", summary="Verify a certificate", request=CertificateToCheck, responses=CertificateVerdict
    )
    def verify(self, request: Request) -> HttpResponseBase:
        """Verify a certificate: its signature, and whether the licence is still valid."""
        check = check_certificate(parse_body(CertificateToCheck, request)["jws"])
        return Response(CertificateVerdict(check).data, headers=_NO_STORE)

    @extend_schema(operation_id="getCertificateStatus", summary="Check whether a certificate is valid", responses=CertificateState)
    def retrieve(self, request: Request, certificate_id: str) -> HttpResponseBase:
        """Return whether the licence of a certificate is still valid, by the certificate's id."""
        return Response(CertificateState(licence_of_certificate(certificate_id)).data, headers=_NO_STORE)

    @extend_schema(operation_id="getCertificateStatusList", summary="Get a status list", responses=OpenApiTypes.OBJECT)
    def status_list(self, request: Request, list_id: str) -> HttpResponseBase:
        """Return a W3C Bitstring Status List credential: which licences are revoked or suspended, and nothing else about them."""
        return Response(status_list(list_id), headers=_STATUS_LIST)
