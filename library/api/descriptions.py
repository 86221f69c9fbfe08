"""Descriptions of the library's fields and parameters that have no help text, by name."""

from collections.abc import Mapping

from marketplace.api.descriptions import describe_with

DESCRIPTIONS: Mapping[str, str] = {
    "acquiredAt": "Time of the purchase.",
    "alg": "The algorithm, EdDSA.",
    "asset": "The licensed asset.",
    "certificate": "The claims of the certificate.",
    "certificateId": "Id of the certificate.",
    "certificate_id": "Id of the certificate, as printed on it.",
    "crv": "The curve, Ed25519.",
    "fileName": "Suggested file name.",
    "issuer": "Address of the service that issued the certificate.",
    "jws": "The signed certificate: a compact JSON Web Signature.",
    "keys": "The public keys, as a JSON Web Key Set.",
    "kty": "The key type, OKP.",
    "license": "The licence tier.",
    "licenseSlug": "Slug of the licence tier.",
    "licensee": "The holder of the licence.",
    "releasedAt": "Time at which this version went on sale.",
    "revokedAt": "Time at which the licence was revoked; null while it is valid.",
    "use": "What the key is for: signatures.",
    "x": "The public key, base64url.",
}
describe = describe_with(DESCRIPTIONS)
