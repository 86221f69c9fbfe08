"""The base of the views that need an approved vendor."""

from typing import Any

from rest_framework.request import Request

from developers.principals import principal_of
from marketplace.accounts.models import User
from marketplace.core.api.views import ApiViewSet

from ...models import VendorProfile
from ...selectors import approved_profile_of


class VendorViewSet(ApiViewSet):
    """Operations for approved vendors only; `problems` of each names `VendorNotApproved`."""

    profile: VendorProfile
    user: User

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the credential, then the vendor's approval, before the body is read."""
        super().initial(request, *args, **kwargs)
        self.user = principal_of(request).user
        self.profile = approved_profile_of(self.user)
