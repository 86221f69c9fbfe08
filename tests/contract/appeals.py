"""Appeals, which the specification does not have."""

from .catalog import LIMIT, PAGE
from .shapes import INTEGER, STRING, TIME, Auth, Field, Operation, array, nullable, one_of, record

QUEUE = nullable(record({"position": INTEGER, "usualHours": nullable(INTEGER)}))
_APPEAL = {
    "id": STRING,
    "kind": one_of("asset", "store", "app", "application"),
    "subjectId": STRING,
    "decision": STRING,
    "decisionReason": STRING,
    "decisionAt": TIME,
    "text": STRING,
    "status": one_of("Pending", "Dismissed", "Accepted"),
    "submittedAt": TIME,
    "answer": STRING,
    "decidedAt": nullable(TIME),
}
APPEAL = record(_APPEAL | {"queue": QUEUE})

OPERATIONS = (
    Operation(
        "POST",
        "/appeals",
        Auth.BEARER,
        "taken_down",
        APPEAL,
        scope="vendor:manage",
        body=(
            Field("kind", "string", "asset", required=True, bounds={"enum": ["asset", "store", "app", "application"]}, bad=("listing", "")),
            Field("subjectId", "string", None, required=True, bounds={"maxLength": 80}, bad=("", "x" * 81)),
            Field("text", "string", "It is my own work.", required=True, bounds={"maxLength": 2000}, bad=("", " ", "x" * 2001)),
        ),
        refusals=frozenset({"not_found", "appeal_exists", "appeal_unavailable"}),
        added=True,
    ),
    Operation(
        "GET",
        "/appeals",
        Auth.BEARER,
        "appealed",
        record({"total": INTEGER, "page": INTEGER, "items": array(record(_APPEAL))}),
        scope="vendor:manage",
        query=(PAGE, LIMIT),
        added=True,
    ),
    Operation(
        "GET", "/appeals/{appeal_id}", Auth.BEARER, "appealed", APPEAL, scope="vendor:manage", refusals=frozenset({"not_found"}), added=True
    ),
)
