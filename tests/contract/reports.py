"""Reports of leaked credentials (not in the specification): public, without telling which credentials exist."""

from .shapes import INTEGER, Auth, Field, Operation, record

OPERATIONS = (
    Operation(
        "POST",
        "/leaked-credentials",
        Auth.NONE,
        "for_sale",
        record({}, added={"received": INTEGER}),
        body=(
            Field(
                "credentials",
                "array",
                [{"value": "cam_sk_made_up", "url": "https://paste.example/1"}],
                required=True,
                bounds={"minItems": 1, "maxItems": 100},
                bad=([], "cam_sk_", ["cam_sk_"]),
                added=True,
            ),
        ),
        added=True,
    ),
)
