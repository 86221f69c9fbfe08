"""What is decided on."""

from developers.models import App, ScopeReview


def open_review(app: App) -> ScopeReview:
    """Return the app's request for scopes that waits."""
    return ScopeReview.objects.get(app=app, status="Pending")
