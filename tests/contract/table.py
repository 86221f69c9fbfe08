"""The whole table: every endpoint of the specification, and every one that we add to it."""

from . import appeals, catalog, certificates, earnings, events, history, purse, reports, vendor
from .shapes import Auth, Operation

OPERATIONS: tuple[Operation, ...] = (
    *catalog.OPERATIONS,
    *purse.OPERATIONS,
    *certificates.OPERATIONS,
    *history.OPERATIONS,
    *vendor.OPERATIONS,
    *earnings.OPERATIONS,
    *events.OPERATIONS,
    *reports.OPERATIONS,
    *appeals.OPERATIONS,
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}
GUARDED = tuple(operation for operation in OPERATIONS if operation.auth is not Auth.NONE)
ON_ONE_ASSET = tuple(operation for operation in OPERATIONS if "{id}" in operation.path)
WITH_BODY = tuple(operation for operation in OPERATIONS if operation.body is not None)
