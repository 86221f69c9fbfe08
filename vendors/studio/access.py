"""Access to the studio's pages: for approved vendors, and to a listing's pages for its vendor only."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect

from catalog.models import Listing
from marketplace.accounts.pages import SignedInRequest, signed_in_page
from marketplace.core.errors import NotFound

from ..errors import VendorNotApproved
from ..models import VendorProfile
from ..selectors import approved_profile_of, own_listing

P = ParamSpec("P")
VendorPage = Callable[Concatenate[SignedInRequest, VendorProfile, ...], HttpResponseBase]
ListingPage = Callable[Concatenate[SignedInRequest, Listing, P], HttpResponseBase]


def vendor_page(*methods: str, find: Callable[..., object] | None = None) -> Callable[[VendorPage], Callable[..., HttpResponseBase]]:
    """Allow approved vendors only, and pass the profile to the view. Other users are redirected to the status of their store.

    `find` returns what the page is about, for the user and the arguments of the route; the view gets it instead of these. It is called
    first, so that everyone gets a 404 for what is not theirs.
    """

    def decorate(page: VendorPage) -> Callable[..., HttpResponseBase]:
        def guarded(request: SignedInRequest, /, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if find is not None:
                args, kwargs = (find(request.user, *args, **kwargs),), {}
            try:
                profile = approved_profile_of(request.user)
            except VendorNotApproved:
                return redirect("studio")
            return page(request, profile, *args, **kwargs)

        return wraps(page)(signed_in_page(*methods)(guarded))

    return decorate


def listing_page(*methods: str) -> Callable[[ListingPage[P]], Callable[..., HttpResponseBase]]:
    """Allow the listing's approved vendor only, and pass the listing to the view. Everyone else gets 404.

    A vendor who is not approved is redirected to the page `studio`. Both also happen when the listing or the approval is removed
    while the view runs: an upload may take hours.
    """

    def decorate(page: ListingPage[P]) -> Callable[..., HttpResponseBase]:
        def guarded(request: SignedInRequest, /, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            try:
                return page(request, own_listing(request.user, slug), *args, **kwargs)
            except NotFound as error:
                raise Http404 from error
            except VendorNotApproved:
                return redirect("studio")

        return wraps(page)(signed_in_page(*methods)(guarded))

    return decorate
