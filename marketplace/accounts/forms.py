"""Where our forms of the account pages differ from allauth's own."""

from allauth.account.forms import SignupForm as LibrarySignupForm
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest, HttpResponse

from .models import User


class SignupForm(LibrarySignupForm):  # type: ignore[misc]  # allauth ships no types
    """Takes as long for an address that has an account as for one that has none."""

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Make the account, or answer as if: the page is the same, and so is the hashing, which is most of the work."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        user, response = super().try_save(request)
        return user, response
