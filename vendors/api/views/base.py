"""What every operation of an approved vendor begins with."""

from typing import Any, cast

from rest_framework.request import Request

from developers.principals import Principal
from marketplace.accounts.models import User
from marketplace.core.api.views import ApiViewSet

from ...models import VendorProfile
from ...selectors import approved_profile_of


def user_of(request: Request) -> User:
    """Return the user on whose behalf an authenticated request is made."""
    return cast("Principal", request.auth).user


class VendorViewSet(ApiViewSet):
    """Operations for approved vendors only; `problems` of each names `VendorNotApproved`."""

    profile: VendorProfile
    user: User

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the credential, then the vendor, before anything of the body is read."""
        super().initial(request, *args, **kwargs)
        self.user = user_of(request)
        self.profile = approved_profile_of(self.user)
