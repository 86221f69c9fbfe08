"""Certificates as everyone may check them, without a credential."""

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.core.access import PUBLIC
from marketplace.core.api.serializers import parse_body
from marketplace.core.api.views import ApiViewSet
from marketplace.core.errors import InvalidInput, NotFound

from ... import signatures
from ...certificates import check_certificate, licence_of_certificate
from ..serializers.certificates import CertificateState, CertificateToCheck, CertificateVerdict, SigningKeys

# A refund ends a certificate at once.
_UNCACHED = {"Cache-Control": "no-store"}


class CertificateViewSet(ApiViewSet):
    """Whether a certificate that somebody shows is genuine, and still stands."""

    access = {"keys": PUBLIC, "verify": PUBLIC, "retrieve": PUBLIC}
    problems = {"verify": (InvalidInput,), "retrieve": (NotFound,)}

    @extend_schema(operation_id="listCertificateKeys", summary="Read the signing keys", responses=SigningKeys)
    def keys(self, request: Request) -> HttpResponseBase:
        """Read the public keys, to check signatures without asking us."""
        return Response(signatures.public_keys(), headers={"Cache-Control": "public, max-age=3600"})

    @extend_schema(
        operation_id="verifyCertificate", summary="Verify a certificate", request=CertificateToCheck, responses=CertificateVerdict
    )
    def verify(self, request: Request) -> HttpResponseBase:
        """Check a certificate: its signature, and whether the licence still stands."""
        verdict = check_certificate(parse_body(CertificateToCheck, request)["jws"])
        return Response(CertificateVerdict(verdict).data, headers=_UNCACHED)

    @extend_schema(operation_id="getCertificateStatus", summary="See whether a certificate stands", responses=CertificateState)
    def retrieve(self, request: Request, certificate_id: str) -> HttpResponseBase:
        """See whether a certificate stands, by the id that is on it."""
        return Response(CertificateState(licence_of_certificate(certificate_id)).data, headers=_UNCACHED)
