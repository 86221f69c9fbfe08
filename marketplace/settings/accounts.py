"""Users, sign-in and the second factor: Django's settings and those of allauth."""

from .sandbox import SANDBOX

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["marketplace.accounts.backends.AccountBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/dashboard"
LOGOUT_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "marketplace.accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "marketplace.accounts.forms.LoginForm",
    "signup": "marketplace.accounts.forms.SignupForm",
    "add_email": "marketplace.accounts.forms.AddEmailForm",
    "change_password": "marketplace.accounts.forms.ChangePasswordForm",
    "reset_password": "marketplace.accounts.forms.ResetPasswordForm",
    "reset_password_from_key": "marketplace.accounts.forms.ResetPasswordKeyForm",
    "reauthenticate": "marketplace.accounts.forms.ReauthenticateForm",
}
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
# Nobody gets the mails of a sandbox.
ACCOUNT_EMAIL_VERIFICATION = "optional" if SANDBOX else "mandatory"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
# The primary address, and a former one, are notified of changes, in case someone else made them.
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_MAX_EMAIL_ADDRESSES = 3
# A session alone does not change the addresses, by any of which the password can be reset.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
MFA_ADAPTER = "marketplace.accounts.second_factor.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "marketplace.accounts.forms.AuthenticateForm",
    "reauthenticate": "marketplace.accounts.forms.ReauthenticateByCodeForm",
    "activate_totp": "marketplace.accounts.forms.ActivateTOTPForm",
}
MFA_TOTP_ISSUER = "Creative Asset Marketplace"
