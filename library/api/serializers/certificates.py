"""Serializers of licence certificates, their status and their verification."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from catalog.models.listings import AiTraining
from marketplace.api.fields import Line
from marketplace.api.serializers import Body

from ...certificates import CertificateStatus, certificate_status
from ...models import Licence

# Our certificates have fewer than 3,000.
JWS_CHARS = 16_000


class CertificateQuery(serializers.Serializer[Any]):
    """The licence tier of the certificate."""

    licenseSlug = Line(
        source="license_slug",
        required=False,
        max_length=40,
        help_text="The licence tier; by default the last one that you own in the order of the tiers, not a suspended one if you have another.",
    )


class Licensee(serializers.Serializer[Any]):
    """Whom the licence is for: its holder, or whom the buyer named."""

    id = serializers.CharField(allow_null=True, help_text="The account that holds the licence; null while it has to be claimed.")
    email = serializers.CharField()
    name = serializers.CharField(
        allow_null=True, help_text="The person or organisation that the licence was bought for, if someone else paid."
    )


class CertifiedAsset(serializers.Serializer[Any]):
    """The licensed asset."""

    id = serializers.CharField()
    slug = serializers.CharField()
    title = serializers.CharField()
    vendor = serializers.CharField()


class CertifiedLicense(serializers.Serializer[Any]):
    """The licence tier, with the terms in force at the purchase."""

    slug = serializers.CharField()
    name = serializers.CharField()
    termsVersion = serializers.IntegerField(help_text="Version of the terms.")
    termsSha256 = serializers.CharField(help_text="SHA-256 of the terms' text, the last part of LICENSE.txt before its final line break.")
    aiTraining = serializers.ChoiceField(AiTraining.choices)


class CertifiedFile(serializers.Serializer[Any]):
    """The file that was on sale."""

    name = serializers.CharField()
    size = serializers.IntegerField()
    checksum = serializers.CharField(help_text="SHA-256 in hex digits.")


class CertificateClaims(serializers.Serializer[Any]):
    """The claims of a certificate: the payload of its signature."""

    certificateId = serializers.CharField()
    schemaVersion = serializers.CharField()
    issuer = serializers.CharField(help_text="Address of the service that issued the certificate.")
    licensee = Licensee(help_text="Whom the licence is for: its holder, or whom the buyer named.")
    asset = CertifiedAsset(help_text="The licensed asset.")
    license = CertifiedLicense(help_text="The licence tier.")
    version = serializers.CharField()
    file = CertifiedFile()
    orderId = serializers.CharField()
    acquiredAt = serializers.DateTimeField()


# The name avoids a clash between a variable and a field in generated clients.
@extend_schema_serializer(component_name="SignedCertificate")
class Certificate(serializers.Serializer[Any]):
    """A licence certificate with its signature."""

    certificate = CertificateClaims(help_text="The claims of the certificate.")
    jws = serializers.CharField(help_text="The same claims signed with Ed25519: a compact JSON Web Signature (RFC 7515, RFC 8037).")
    keysUrl = serializers.CharField(help_text="The public keys.")
    statusUrl = serializers.CharField(help_text="Shows anyone whether the licence is still valid.")


class CertificateToCheck(Body):
    """A certificate to verify."""

    jws = Line(max_length=JWS_CHARS, help_text="The signed certificate: a compact JSON Web Signature.")


class CertificateState(serializers.Serializer[Licence]):
    """The public status of a certificate, without its holder."""

    certificateId = serializers.CharField(source="id")
    status = serializers.SerializerMethodField()
    assetId = serializers.CharField(source="listing_id")
    licenseSlug = serializers.CharField(source="tier.slug")
    aiTraining = serializers.ChoiceField(AiTraining.choices, source="ai_training")
    version = serializers.CharField()
    checksum = serializers.CharField(source="deliverable.sha256", help_text="SHA-256 in hex digits.")
    acquiredAt = serializers.DateTimeField(source="acquired_at")
    revokedAt = serializers.DateTimeField(source="revoked_at", allow_null=True)

    @extend_schema_field(serializers.ChoiceField(CertificateStatus.choices))
    def get_status(self, licence: Licence) -> CertificateStatus:
        return certificate_status(licence)


class CertificateVerdict(serializers.Serializer[Any]):
    """The result of a verification."""

    valid = serializers.BooleanField(help_text="The signature is ours and the licence is valid.")
    status = serializers.ChoiceField(CertificateStatus.choices)
    revokedAt = serializers.DateTimeField(source="revoked_at", allow_null=True)
    certificate = CertificateClaims(allow_null=True, help_text="The signed claims; null if the signature is not ours.")


class SigningKey(serializers.Serializer[Any]):
    """A public Ed25519 key (RFC 8037)."""

    kty = serializers.CharField(help_text="The key type, OKP.")
    crv = serializers.CharField(help_text="The curve, Ed25519.")
    x = serializers.CharField(help_text="The public key, base64url.")
    alg = serializers.CharField(help_text="The algorithm, EdDSA.")
    use = serializers.CharField(help_text="What the key is for: signatures.")
    kid = serializers.CharField(help_text="Thumbprint (RFC 7638); in the header of what the key signed.")


class SigningKeys(serializers.Serializer[Any]):
    """A JSON Web Key Set (RFC 7517): the key that signs now, then those before it."""

    keys = SigningKey(many=True, help_text="The public keys, as a JSON Web Key Set.")
