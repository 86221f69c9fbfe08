"""Public endpoints that verify certificates, without a credential."""

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import PUBLIC
from marketplace.core.errors import NotFound

from ... import signatures
from ...certificates import check_certificate, licence_of_certificate
from ..serializers.certificates import CertificateState, CertificateToCheck, CertificateVerdict, SigningKeys

# A refund invalidates a certificate at once.
_NO_STORE = {"Cache-Control": "no-store"}


class CertificateViewSet(ApiViewSet):
    """Verifies licence certificates, for anyone."""

    access = {"keys": PUBLIC, "verify": PUBLIC, "retrieve": PUBLIC}
    problems = {"retrieve": (NotFound,)}

    @extend_schema(operation_id="listCertificateKeys", summary="List the signing keys", responses=SigningKeys)
    def keys(self, request: Request) -> HttpResponseBase:
        """Return the public keys, to verify signatures offline."""
        return Response(signatures.public_keys(), headers={"Cache-Control": "public, max-age=3600"})

    @extend_schema(
        operation_id="verifyCertificate", summary="Verify a certificate", request=CertificateToCheck, responses=CertificateVerdict
    )
    def verify(self, request: Request) -> HttpResponseBase:
        """Verify a certificate: its signature, and whether the licence is still valid."""
        verdict = check_certificate(parse_body(CertificateToCheck, request)["jws"])
        return Response(CertificateVerdict(verdict).data, headers=_NO_STORE)

    @extend_schema(operation_id="getCertificateStatus", summary="Check whether a certificate is valid", responses=CertificateState)
    def retrieve(self, request: Request, certificate_id: str) -> HttpResponseBase:
        """Return whether the licence of a certificate is still valid, by the certificate's id."""
        return Response(CertificateState(licence_of_certificate(certificate_id)).data, headers=_NO_STORE)
