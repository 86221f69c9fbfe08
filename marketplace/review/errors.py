"""Problem classes of appeals."""

from marketplace.core.errors import Problem


class AppealExists(Problem):
    """409: `appealId` is the appeal against the same decision."""

    status = 409
    title = "The decision has already been appealed"
    detail = "A decision can be appealed once. Read the appeal at GET /api/v1/appeals/{id}."


class AppealUnavailable(Problem):
    """409: the last decision on it is not a rejection, a takedown, a suspension or a withdrawn approval."""

    status = 409
    title = "There is nothing to appeal"
    detail = "Only the last decision can be appealed, if it is a rejection, a takedown, a suspension or a withdrawn approval."
