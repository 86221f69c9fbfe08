"""What the catalog does in the background."""

from marketplace.jobs.policy import job

from .services.listing_index import rebuild


@job()
def rebuild_listing_index() -> None:
    """Correct the browse index after a change of every price."""
    rebuild(lambda _done, _total: None)
