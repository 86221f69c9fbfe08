"""A user with a row in every table that can hold personal data, and a unique text in every such column."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.models import EmailField, JSONField, Model
from django.utils import timezone
from django.utils.http import int_to_base36

from developers.event_types import EventType
from developers.models.usage import CallerKind
from marketplace.accounts.models import User
from marketplace.core.fields import EncryptedTextField
from tests.factories import CategoryFactory, UserFactory
from tests.shop import tiers
from wallet.models import BillingDetails, Journal, Order, Seller

from .personal_data import HOLDINGS

_BY_NAME = {holding.name: holding for holding in HOLDINGS}
_COLUMNS = [(holding.name, column) for holding in HOLDINGS for column in holding.personal]
# As short as the shortest column.
MARKS = {place: f"«{int_to_base36(number).rjust(2, '0')}»" for number, place in enumerate(_COLUMNS)}
_NAMES = {mark: f"{name}.{column}" for (name, column), mark in MARKS.items()}
SOON = timedelta(days=1)


class Person:
    """Makes the rows.

    Attributes:
        rows: What was made, by the name of its holding.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Any] = {}
        self.now = timezone.now()
        self.user: User = self.add("accounts.User", last_login=self.now)
        self.other = UserFactory()
        self._account()
        self._developer()
        self._credentials()
        self._webhooks()
        self._listings()
        self._wallet()
        self._orders()

    def add(self, name: str, **given: Any) -> Any:
        """Insert a row of a holding, with a mark in each personal column that is not given."""
        holding, columns = _BY_NAME[name], {}
        for column in holding.personal:
            field, mark = holding.model._meta.get_field(column), MARKS[name, column]
            columns[column] = [mark] if isinstance(field, JSONField) else f"{mark}@example.com" if isinstance(field, EmailField) else mark
        row = holding.model(**columns, **given)
        rows = holding.model._base_manager
        rows.bulk_create([row])
        # Some columns hash what is saved.
        own = rows.filter(pk=row.pk)
        stored = own.values(*columns).get() if columns else {}
        if stored != columns:
            own.update(**columns)
        assert name not in self.rows
        self.rows[name] = row
        return row

    def _account(self) -> None:
        user, now = self.user, self.now
        self.add("accounts.User_groups", user=user, group=Group.objects.get_or_create(name="Readers")[0])
        self.add("accounts.User_user_permissions", user=user, permission=Permission.objects.earliest("pk"))
        address = self.add("account.EmailAddress", user=user, verified=True, primary=True)
        self.add("accounts.MailOptOut", user=self.user, topic="sale")
        self.add("account.EmailConfirmation", email_address=address)
        self.add("mfa.Authenticator", user=user, type="totp")
        self.add("sessions.Session", expire_date=now + SOON)
        self.add("admin.LogEntry", user=user, action_flag=2)
        self.add("core.AuditEntry of the person", actor=user)
        self.add("core.AuditEntry about the person", actor=self.other, subject_type=user._meta.label_lower, subject_id=str(user.pk))
        self.add("review.Appeal", appellant=user, decision=self.rows["core.AuditEntry about the person"])
        self.add("operations.AccountExport", user=user, requested_at=now, expires_at=now + SOON)
        self.add("django_tasks_database.DBTaskResult", run_after=now, task_path="x", backend_name="default")

    def _developer(self) -> None:
        user, now = self.user, self.now
        application = self.add("developers.DeveloperApplication", user=user, submitted_at=now)
        foreign = _BY_NAME["developers.DeveloperApplication"].model(user=self.other, submitted_at=now, what="x", why="x")
        foreign.save()
        self.add("developers.ApplicationMessage of the person", application=application, author=user)
        self.add("developers.ApplicationMessage of a reviewer", application=application, author=self.other)
        self.add("developers.ApplicationMessage to another applicant", application=foreign, author=user)
        grants = {"client_type": "public", "authorization_grant_type": "authorization-code"}
        app = self.add("developers.App", user=user, status="Approved", **grants)
        self.add("developers.App of another developer", user=self.other, client_id="another", **grants)
        self.add("developers.AppOrigin", app=app)
        self.add("developers.AppLogo", app=app, image=b"logo")
        self.add("developers.MetadataReview", app=app, host="")
        self.add("developers.AppScope", app=app, scope="catalog:read")
        self.add("developers.ScopeReview", app=app)

    def _credentials(self) -> None:
        user, other, now = self.user, self.other, self.now
        app, foreign = self.rows["developers.App"], self.rows["developers.App of another developer"]
        self.add("developers.Consent", user=user, app=foreign, audience="api", given_at=now, renewed_at=now)
        key = self.add("developers.ApiKey", app=app)
        self.add("developers.DormancyNotice", key=key, sent_at=now)
        token = self.add("developers.AccessToken", user=user, kind="personal", expires=now + SOON)
        self.add("developers.AccessToken of another person", user=other, kind="oauth", application=app, expires=now + SOON)
        for whose, owner, client in (("of the person", user, foreign), ("of another person", other, app)):
            self.add(f"developers.RefreshToken {whose}", user=owner, application=client)
            ends = {"expires": now + SOON, "code_challenge_method": "S256"}
            self.add(f"developers.Grant {whose}", user=owner, application=client, **ends)
        session = Session.objects.get(pk=self.rows["sessions.Session"].pk)
        self.add("developers.FirstPartyToken", user=user, session=session, expires_at=now + SOON)
        calls = {"status": 200, "calls": 3}
        self.add("developers.ApiUsage of an app", day=now.date(), app=app, kind=CallerKind.API_KEY, credential_id=key.pk, **calls)
        self.add("developers.ApiUsage of a personal token", day=now.date(), kind=CallerKind.PERSONAL, credential_id=token.pk, **calls)
        self.add("developers.HourlyUsage", hour=now, app=app, kind=CallerKind.API_KEY, credential_id=key.pk, **calls)
        limits = {"currency": "INR", "total_minor": 5}
        self.add("developers.SpendingLimit", owner=user, app=foreign, set_by=user, **limits)
        self.add("developers.SpendingLimit of an app, set by staff", app=app, set_by=other, **limits)

    def _webhooks(self) -> None:
        app = self.rows["developers.App"]
        endpoint = self.add("developers.WebhookEndpoint", app=app)
        self.add("developers.WebhookSubscription", endpoint=endpoint, event=EventType.ASSET_PUBLISHED)
        self.add("developers.WebhookEvent to the person", owner=self.user)
        self.add("developers.WebhookEvent to an app", app=app)
        public = self.add("developers.WebhookEvent to everyone", type=EventType.ASSET_PUBLISHED, subject="x", data={})
        delivery = self.add("developers.WebhookDelivery", event=public, endpoint=endpoint)
        self.add("developers.WebhookAttempt", delivery=delivery, milliseconds=5)

    def _listings(self) -> None:
        user, now = self.user, self.now
        store = self.add("catalog.Store", owner=user, is_open=True)
        self.add("catalog.StorePicture", store=store, kind="Logo", size=5)
        profile = self.add("vendors.VendorProfile", user=user, store=store, status="Approved", decided_at=now, decided_by=self.other)
        self.add("vendors.PayoutDetails", profile=profile, currency="INR")
        for which in ("sold", "never sold"):
            listing = self.add(
                f"catalog.Listing {which}", store=store, category=CategoryFactory(), base_price_minor=100, ai_origin="declared"
            )
            file = self.add(f"catalog.Deliverable {which}", listing=listing, file_size=5, crc32=1, approved_at=now)
            type(listing).objects.filter(pk=listing.pk).update(approved_deliverable=file, candidate_deliverable=file)
            self.add(f"catalog.Preview {which}", listing=listing, kind="Gallery", size=5)
            self.add(f"catalog.Discount {which}", listing=listing, percent=5, ends_at=now + SOON)
            self.add(f"catalog.ListingReview {which}", listing=listing, submitted_at=now, submitted_by=user)
            self.add(f"catalog.AgentManifest {which}", listing=listing)
            self.add(f"catalog.FileFacts {which}", listing=listing)
            self.add(f"catalog.FilePreview {which}", deliverable=file, kind="FontStyle", position=0, size=5)
            self.add(f"catalog.FormerPreview {which}", listing=listing, size=5)
            self.add(f"library.Package {which}", deliverable=file, size=5)
        self.add("vendors.Upload", listing=self.rows["catalog.Listing sold"], size=5, expires_at=now + SOON)

    def _wallet(self) -> None:
        user = self.user
        wallet = self.add("wallet.LedgerAccount", kind="wallet", owner=user, currency="INR", may_go_negative=False)
        funding = self._move("wallet.Journal", wallet, "funding", 10)
        self.add("wallet.CreditReference", journal=funding)
        paid_up = {"status": "Succeeded", "journal": funding, "paid_at": self.now, "expires_at": self.now + SOON}
        top_up = self.add("wallet.TopUp", user=user, currency="INR", amount_minor=10, **paid_up)
        kept = {"kind": "dispute", "status": "Kept", "amount_minor": 10, "decided_at": self.now}
        self.reversal = self.add("wallet.CardReversal", top_up=top_up, **kept)
        self.add("wallet.ProviderEvent", top_up=top_up, kind="succeeded", amount_minor=10, occurred_at=self.now, processed_at=self.now)
        hold = self._move("", wallet, "hold", -10)
        paid = self._journal(kind="settlement")
        self.add("wallet.WalletPayout paid", wallet=wallet, hold=hold, closing_journal=paid, status="Paid")
        self._move("", wallet, "funding", 10)
        hold = self._move("", wallet, "hold", -10)
        back = self._move("", wallet, "return", 10, undoes=hold)
        self.add("wallet.WalletPayout refused", wallet=wallet, hold=hold, closing_journal=back, status="Refused")
        self._move("", wallet, "hold", -10)
        earnings = type(wallet).objects.create(kind="vendor", owner=user, currency="INR", may_go_negative=True)
        journal = self._journal(kind="payout", vendor=earnings, vendor_net_minor=-5)
        back = self._journal(kind="payout_return", vendor=earnings, vendor_net_minor=5, undoes=journal)
        batch = self.add("wallet.PayoutBatch", run="a", currency="INR", transfer_currency="INR")
        settled = {"status": "Bounced", "return_journal": back, "settled_at": self.now}
        details = self.rows["vendors.PayoutDetails"]
        self.add("wallet.VendorPayout", batch=batch, account=earnings, journal=journal, details=details, **settled)
        self.add("wallet.WalletSettings", owner=user)
        self.add("core.IdempotencyRecord", owner=user, requester_id=user.pk)

    def _move(self, name: str, wallet: Any, kind: str, net_minor: int, **given: Any) -> Any:
        """Insert the next entry of a wallet."""
        wallet.entries, wallet.balance_minor = wallet.entries + 1, wallet.balance_minor + net_minor
        wallet.save(update_fields=["entries", "balance_minor"])
        entry = {
            "kind": kind,
            "wallet": wallet,
            "wallet_entry": wallet.entries,
            "wallet_net_minor": net_minor,
            "wallet_balance_minor": wallet.balance_minor,
            **given,
        }
        return self.add(name, **entry) if name else self._journal(**entry)

    def _journal(self, **given: Any) -> Journal:
        return Journal.objects.create(reason="test", **given)

    def _invoice(self, order: Any) -> None:
        wallet, tax = self.rows["wallet.LedgerAccount"], {"treatment": "listing", "currency": "INR", "gross_minor": 10, "tax_minor": 0}
        self._move("", wallet, "funding", 10)
        sale = self._move("", wallet, "sale", -10, order=order)
        logos = [self.add(f"wallet.Logo of {which} sale", owner=self.user, image=b"") for which in ("a", "no")]
        details = self.add("wallet.BillingDetails of a sale", owner=self.user, current=False, country="DE", logo=logos[0])
        self.add("wallet.BillingDetails of no sale", owner=self.user, country="DE", logo=logos[1])
        type(order).objects.filter(pk=order.pk).update(buyer_details=details)
        operators = BillingDetails.objects.create(name="Market", street="1", city="B", country="DE")
        seller = Seller.objects.create(details=operators)
        numbered = {
            "seller": seller,
            "vendor": self.user,
            "seller_details": operators,
            "fiscal_year": 2026,
            "sequence": 1,
            "date": self.now.date(),
        }
        what = {"kind": "invoice", "order": order, "journal": sale, "buyer_details": details, "tax_rate_bp": 0}
        self.add("wallet.Invoice", **numbered, **what, **tax)

    def _orders(self) -> None:
        user, listing = self.user, self.rows["catalog.Listing sold"]
        file, tier = self.rows["catalog.Deliverable sold"], tiers()[0]
        what = {"listing": listing, "tier": tier}
        offer = {**what, "currency": "INR", "price_minor": 0, "tax_rate_bp": 0, "tax_minor": 0}
        shown = {"terms": tier.terms.get(), "ai_training": "forbidden"}
        self.add("wallet.Quote", owner=user, expires_at=self.now + SOON, **shown, **offer)
        unsold = {**offer, "listing": self.rows["catalog.Listing never sold"]}
        self.add("wallet.Quote of another person", owner=self.other, expires_at=self.now + SOON, **shown, **unsold)
        parts = {"commission_minor": 0, "vendor_share_minor": 0, "status": "Completed"}
        used = self.add("wallet.Quote of an order", owner=user, expires_at=self.now + SOON, **shown, **offer)
        self.add("wallet.Approval", owner=user, quote=used, spender_id=used.pk, expires_at=self.now + SOON, status="Waiting")
        order = self.add("wallet.Order", buyer=user, deliverable=file, terms=tier.terms.get(), quote=used, **offer, **parts)
        self.add("wallet.ReversalPart", reversal=self.reversal, order=order, reversed_minor=1, suspended=True, withheld_minor=0)
        self.add("wallet.RefundRequest", order=order, vendor=self.user, status="InReview", reason="faulty", escalated_at=self.now)
        self._invoice(order)
        granted = {"deliverable": file, "acquired_at": self.now, "terms": order.terms}
        licence = self.add("library.Licence", holder=user, order_id=order.pk, **granted, **what)
        paid = Order.objects.create(buyer=user, deliverable=file, terms=order.terms, **offer, **parts)
        theirs = {"holder": self.other, "claim_sent_at": self.now, "claimed_at": self.now}
        self.add("library.Licence for another person", order_id=paid.pk, **granted, **theirs, **what)
        times = {"issued_at": self.now, "expires_at": self.now + SOON}
        package = self.rows["library.Package sold"]
        link = self.add("library.DownloadLink", user=user, licence=licence, listing=listing, deliverable=file, package=package, **times)
        self.add("library.Download", link=link, at=self.now)
        self.add("library.Favourite", user=user, listing=listing)


def marks_in(value: Any) -> set[str]:
    """Return the names of the columns whose marks stand in a value, or anywhere inside it."""
    # JSON has them escaped, and a list of it has the escapes escaped.
    text = str(value).replace("\\\\", "\\").replace("\\u00ab", "«").replace("\\u00bb", "»")
    return {name for mark, name in _NAMES.items() if mark in text}


def stored_marks() -> set[str]:
    """Return the names of the columns whose marks stand anywhere in the database, encrypted ones too."""
    decrypted = [model._base_manager.values_list(field.name) for model, field in _encrypted()]
    return {name for rows in [*map(_rows_of, _tables()), *map(list, decrypted)] for name in marks_in(rows)}


def _encrypted() -> Iterator[tuple[type[Model], EncryptedTextField]]:
    for model in apps.get_models():
        yield from ((model, field) for field in model._meta.concrete_fields if isinstance(field, EncryptedTextField))


def all_rows() -> str:
    """Return everything that is in the database as one text."""
    return "\n".join(str(_rows_of(table)) for table in sorted(_tables()))


def _tables() -> set[str]:
    """Return every table; the virtual ones of SQLite's text search cannot be read, but the tables that they store in are."""
    names = set(connection.introspection.table_names())
    if connection.vendor == "sqlite":
        names -= {name for name, statement in _select("SELECT name, sql FROM sqlite_master") if "VIRTUAL" in str(statement)}
    return names


def _rows_of(table: str) -> list[tuple[Any, ...]]:
    return _select(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - the name of a table


def _select(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def is_there(row: Model) -> bool:
    return type(row)._base_manager.filter(pk=row.pk).exists()
