"""Notifies the owners of unused keys."""

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail

from ..models import ApiKey, DormancyNotice
from ..usage.selectors import dormant_keys


def unnotified_keys() -> QuerySet[ApiKey]:
    """Return the dormant keys whose owners got no mail since the last use."""
    last_use = Coalesce(F("last_used_at"), F("created_at"))
    return dormant_keys().filter(Q(dormancy_notice=None) | Q(dormancy_notice__sent_at__lte=last_use))


@transaction.atomic
def mail_dormant_key(*, key: ApiKey, actor: User | None) -> bool:
    """Mail the owner of a dormant key, once; return False if the key was used, revoked or its owner mailed meanwhile."""
    lock(ApiKey.objects.all(), pk=key.pk)
    if not unnotified_keys().filter(pk=key.pk).exists():
        return False
    DormancyNotice.objects.update_or_create(key=key, defaults={"sent_at": timezone.now()})
    audit.record("apikey.mail_dormant", key, actor=actor)
    mail(key.app.developer, "developers/key_dormant", key=key, app=key.app)
    return True
