"""First-party tokens, with which this site's pages call the API, valid as long as their session and for 15 minutes at most."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from marketplace.core.access import CredentialKind
from marketplace.core.ids import new_id
from marketplace.core.scopes import Scope, parse_scopes

from .apps import App


class FirstPartyToken(models.Model):
    """A token with which a page calls the API: for the signed-in user, or in place of a key of one of the user's apps.

    It is read together with its session, in one query, and both must be valid. So it ends with the session, whether by
    signing out, signing in as someone else, or a clean-up of old sessions.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # None: it acts for the user.
    app = models.ForeignKey(App, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    # Not enforced by the database: sessions are deleted without checking this table.
    session = models.ForeignKey(
        "sessions.Session", null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    # The session's auth hash; a new password, and the end of all sessions, change the one it is compared with.
    session_hash = models.CharField(max_length=64, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scope = models.CharField(max_length=200, editable=False)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ("-id",)
        indexes = (models.Index(fields=("expires_at",), name="firstpartytoken_expires"),)

    def __str__(self) -> str:
        return f"first-party token of {self.app or self.user}"

    @property
    def kind(self) -> CredentialKind:
        """The kind of credential: `CONSOLE` with an app, else `FIRST_PARTY`."""
        return CredentialKind.FIRST_PARTY if self.app_id is None else CredentialKind.CONSOLE

    @property
    def is_active(self) -> bool:
        """Tell whether token and session are not expired, and the session is still valid for the account."""
        now = timezone.now()
        if self.session is None or min(self.expires_at, self.session.expire_date) <= now or not self.user.is_active:
            return False
        return constant_time_compare(self.session_hash, self.user.get_session_auth_hash())

    @property
    def scopes(self) -> frozenset[Scope]:
        """The token's scopes, with an app those that the app is still granted."""
        own = parse_scopes(self.scope)
        return own if self.app is None else own & self.app.scopes
