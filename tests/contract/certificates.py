"""What is added to the library of the specification: versions and licence certificates."""

from .shapes import BOOLEAN, BYTES, INTEGER, OBJECT, SHA256, STRING, TIME, Auth, Field, Operation, Query, array, nullable, one_of, record

STATUS = one_of("valid", "revoked", "replaced", "suspended", "notGenuine")
AI_TRAINING = one_of("allowed", "forbidden", "by_licence")
CERTIFICATE = record(
    {
        "certificateId": STRING,
        "schemaVersion": STRING,
        "issuer": STRING,
        "licensee": record({"id": nullable(STRING), "email": STRING, "name": nullable(STRING)}),
        "asset": record({"id": STRING, "slug": STRING, "title": STRING, "vendor": STRING}),
        "license": record({"slug": STRING, "name": STRING, "termsVersion": INTEGER, "termsSha256": SHA256, "aiTraining": AI_TRAINING}),
        "version": STRING,
        "file": record({"name": STRING, "size": INTEGER, "checksum": SHA256}),
        "orderId": STRING,
        "acquiredAt": TIME,
    }
)
# Its keys are those of the recommendation of W3C, and what is signed is tested with the libraries of others.
CREDENTIAL = OBJECT
TIER = (Query("licenseSlug", "string", bounds={"maxLength": 40}, bad=("x" * 41,)),)

OPERATIONS = (
    Operation(
        "GET",
        "/library/{id}/versions",
        Auth.KEY_OR_BEARER,
        "owned",
        record(
            {
                "assetId": STRING,
                "items": array(record({"id": STRING, "version": STRING, "fileSize": INTEGER, "checksum": SHA256, "releasedAt": TIME})),
            }
        ),
        scope="library:read",
        refusals=frozenset({"not_found", "not_owned"}),
        added=True,
    ),
    Operation(
        "GET",
        "/library/{id}/certificate",
        Auth.KEY_OR_BEARER,
        "owned",
        record({"certificate": CERTIFICATE, "jws": STRING, "keysUrl": STRING, "statusUrl": STRING}),
        scope="library:read",
        query=TIER,
        refusals=frozenset({"not_found", "not_owned", "invalid_input"}),
        added=True,
    ),
    Operation(
        "GET",
        "/library/{id}/certificate.pdf",
        Auth.KEY_OR_BEARER,
        "owned",
        BYTES,
        scope="library:read",
        query=TIER,
        refusals=frozenset({"not_found", "not_owned", "invalid_input"}),
        added=True,
    ),
    Operation(
        "GET",
        "/library/{id}/credential",
        Auth.KEY_OR_BEARER,
        "certified",
        CREDENTIAL,
        scope="library:read",
        query=TIER,
        refusals=frozenset({"not_found", "not_owned", "invalid_input"}),
        added=True,
    ),
    Operation(
        "GET",
        "/certificates/status-lists/{list_id}",
        Auth.NONE,
        "certified",
        CREDENTIAL,
        refusals=frozenset({"not_found"}),
        added=True,
    ),
    Operation(
        "GET",
        "/certificates/keys",
        Auth.NONE,
        "owned",
        record({"keys": array(record(dict.fromkeys(("kty", "crv", "x", "alg", "use", "kid"), STRING)))}),
        added=True,
    ),
    Operation(
        "POST",
        "/certificates/verify",
        Auth.NONE,
        "owned",
        record({"valid": BOOLEAN, "status": STATUS, "revokedAt": nullable(TIME), "certificate": nullable(CERTIFICATE)}),
        body=(Field("jws", "string", required=True, bounds={"maxLength": 16_000}, bad=("",)),),
        added=True,
    ),
    Operation(
        "GET",
        "/certificates/{certificate_id}",
        Auth.NONE,
        "owned",
        record(
            {
                "certificateId": STRING,
                "status": STATUS,
                "assetId": STRING,
                "licenseSlug": STRING,
                "aiTraining": AI_TRAINING,
                "version": STRING,
                "checksum": SHA256,
                "acquiredAt": TIME,
                "revokedAt": nullable(TIME),
            }
        ),
        refusals=frozenset({"not_found"}),
        added=True,
    ),
)
