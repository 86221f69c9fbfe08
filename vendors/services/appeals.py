"""What is restored when an appeal (`marketplace.review.appeals`) overturns a rejection or a suspension of a vendor."""

from django.db import transaction
from django.urls import reverse

from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from marketplace.core.transitions import lock
from marketplace.review.appeals import Appealable, register_appealable

from ..models import VendorProfile
from .profiles import reinstate_vendor


@transaction.atomic
def overturn_suspension(*, subject: VendorProfile, decision: AuditEntry, reason: str, actor: User) -> None:
    """Reinstate a vendor who was suspended or rejected; the published listings return to the catalog."""
    reinstate_vendor(profile=subject, reason=reason, actor=actor)


def connect() -> None:
    """Let vendors appeal the decisions on their stores."""
    register_appealable(
        Appealable(
            "store",
            VendorProfile,
            owner="user",
            lock=lambda profile_id: lock(VendorProfile.objects.all(), pk=profile_id),
            overturns={"vendor.reject": overturn_suspension, "vendor.suspend": overturn_suspension},
            page=lambda _profile: reverse("studio"),
        )
    )
