"""The safeguards of the money code, each taken out once."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A safeguard taken out.

    Args:
        name: What is missing.
        path: In which file.
        old: The text that goes; it is there once.
        new: What takes its place.
        tests: What must notice, for `pytest -k`.
    """

    name: str
    path: str
    old: str
    new: str
    tests: str


RACES = "tests/wallet/test_races.py"
SPENDING = "tests/wallet/test_spending.py"
ONCE = "tests/wallet/test_spending_once.py"
LIMITS = "tests/wallet/test_spending_limits.py"
QUOTES = "tests/wallet/test_quotes.py"
PAYOUTS = "tests/wallet/test_vendor_payouts.py"
EARNINGS = "tests/wallet/test_earnings.py"
DIGESTS = "tests/wallet/test_digests.py"
LEAVING = "tests/wallet/test_wallet_payouts.py"
OF_THE_SOURCE = (
    Mutant(
        "no WHERE: the debit does not look at the balance",
        "wallet/statements.py",
        " AND balance_minor >= %(amount)s\nRETURNING",
        "\nRETURNING",
        f"{SPENDING}::test_balance_below_the_price_is_refused_and_told",
    ),
    Mutant(
        "no lock: the sums are taken before the wallet is ours",
        "wallet/services/spending.py",
        "    charged = _charge(order, offer) if offer.price_minor else None\n    if charged is not None:\n"
        "        enforce_limits(buyer=buyer, offer=offer, principal=principal)\n",
        "    enforce_limits(buyer=buyer, offer=offer, principal=principal)\n"
        "    charged = _charge(order, offer) if offer.price_minor else None\n",
        f"{RACES}::test_cap_is_reached_exactly_and_never_passed",
    ),
    Mutant(
        "no lock: a refund reads the order and does not lock it",
        "wallet/services/refunds.py",
        "order = lock(Order.objects.all(), pk=order.pk)\n    if actor",
        "order = Order.objects.get(pk=order.pk)\n    if actor",
        f"{RACES}::test_one_order_is_refunded_once",
    ),
    Mutant(
        "no unique: a second answer overwrites the first one's",
        "wallet/statements.py",
        "\n WHERE wallet_idempotencyrecord.created_at <= %s\n",
        "\n WHERE wallet_idempotencyrecord.created_at <= %s OR true\n",
        f"{RACES}::test_same_key_for_different_assets_makes_one_order",
    ),
    Mutant(
        "unscoped key: anyone's answer is everyone's",
        "wallet/services/idempotency.py",
        "filter(owner=request.owner, key=request.key,",
        "filter(key=request.key,",
        f"{ONCE}::test_key_of_someone_else_is_not_looked_up",
    ),
    Mutant(
        "key without its input: another request gets this one's answer",
        "wallet/services/idempotency.py",
        "orjson.dumps([operation, given]",
        "orjson.dumps([operation]",
        f"{ONCE}::test_key_with_another_body_is_refused",
    ),
    Mutant(
        "double rounding: the vendor's share is rounded by itself",
        "marketplace/core/money.py",
        "return Split(tax_minor, commission, price_minor - tax_minor - commission)",
        "return Split(tax_minor, commission, share(price_minor - tax_minor, 10_000 - commission_rate_bp))",
        f"{SPENDING}::test_split_leaves_no_paisa_over",
    ),
    Mutant(
        "skipped leg: nobody gets the commission",
        "wallet/services/spending.py",
        '        Leg(wallet, accounts[AccountKind.COMMISSION], order["commission_minor"]),\n',
        "",
        f"{SPENDING}::test_price_is_split_into_tax_commission_and_the_vendors_share",
    ),
    Mutant(
        "skipped leg: a refund leaves the tax where it is",
        "wallet/services/refunds.py",
        "for transfer in transfers],",
        'for transfer in transfers if transfer.credit.kind != "tax"],',
        "tests/wallet/test_refunds.py::test_refund_mirrors_every_leg_and_takes_the_licence_back",
    ),
    Mutant(
        "no balance: a refund forgets the wallet",
        "wallet/services/refunds.py",
        "wallet = None if deleted else credit_wallet_balance(wallet_id, order.price_minor)",
        "wallet = None if deleted else WalletEntry(wallet_id, order.price_minor, order.price_minor, 3)",
        "tests/wallet/test_refunds.py::test_refund_mirrors_every_leg_and_takes_the_licence_back",
    ),
    Mutant(
        "unsorted locks: accounts are opened in any order",
        "wallet/services/ledger.py",
        "    for kind in _OPENING_ORDER:\n",
        "    for kind in sorted(_OPENING_ORDER, key=lambda _: random.random()):\n",
        f"{RACES}::test_first_sales_of_many_open_their_accounts_without_a_circle",
    ),
    Mutant(
        "unsorted locks: a refund takes the licence before the wallet",
        "wallet/services/refunds.py",
        "    sale = Journal.objects.filter(order=order, kind=JournalKind.SALE).first()\n",
        "    revoke_licence(order_id=order.id, reason=reason, actor=actor)\n"
        "    undo_purchase(listing_id=order.listing_id)\n"
        "    sale = Journal.objects.filter(order=order, kind=JournalKind.SALE).first()\n",
        f"{RACES}::test_refunds_and_purchases_of_one_asset_take_its_rows_in_one_order",
    ),
    Mutant(
        "no transaction: what was done before a refusal stays",
        "wallet/services/spending.py",
        "        with transaction.atomic(), bounded_wait(request):\n",
        "        with bounded_wait(request):\n",
        "tests/wallet/test_faults.py::test_cut_at_any_statement_leaves_nothing_half_done",
    ),
    Mutant(
        "quote without an end",
        "wallet/services/quotes.py",
        "    if quote.expires_at <= timezone.now():\n        raise QuoteExpired\n",
        "",
        "tests/wallet/test_quotes.py::test_expired_quote_is_refused",
    ),
    Mutant(
        "quote of anyone",
        "wallet/services/quotes.py",
        '.annotate(order_id=F("orders__pk")).filter(owner=buyer)',
        '.annotate(order_id=F("orders__pk"))',
        "tests/wallet/test_quotes.py::test_quote_of_someone_else_is_not_found",
    ),
    Mutant(
        "refunded orders count on: caps shrink",
        "wallet/statements.py",
        " AND currency = %(currency)s AND status = 'Completed'\n",
        " AND currency = %(currency)s\n",
        "tests/wallet/test_spending_limits.py::test_refund_gives_back_what_it_took_from_the_caps",
    ),
    Mutant(
        "no lock: a payout reads the account and does not lock it",
        "wallet/services/vendor_payouts.py",
        "account = lock(LedgerAccount.objects.filter(kind=AccountKind.VENDOR), pk=account.pk)",
        "account = LedgerAccount.objects.get(kind=AccountKind.VENDOR, pk=account.pk)",
        f"{PAYOUTS}::test_payouts_at_once_pay_what_was_earned_once",
    ),
    Mutant(
        "payout to anyone: a suspended vendor is paid",
        "wallet/services/vendor_payouts.py",
        "    if profile.status != VendorStatus.APPROVED:\n",
        "    if False:\n",
        f"{PAYOUTS}::test_vendor_who_cannot_be_paid_keeps_the_earnings",
    ),
    Mutant(
        "payout again: what a run has paid is not looked for",
        "wallet/services/vendor_payouts.py",
        "    if paid is not None:\n        return paid\n",
        "",
        f"{PAYOUTS}::test_run_that_is_repeated_pays_nobody_twice_and_lists_the_same",
    ),
    Mutant(
        "payout of debts: a balance below zero is paid",
        "wallet/services/vendor_payouts.py",
        "    if amount < max(minimum_minor, 1):\n",
        "    if 0 <= amount < minimum_minor:\n",
        f"{PAYOUTS}::test_balance_of_nothing_or_less_is_not_paid",
    ),
    Mutant(
        "payout without its entry: what was paid is still owed",
        "wallet/selectors.py",
        'total=Sum("vendor_net_minor"))',
        'total=Sum("vendor_net_minor", filter=~Q(kind="payout")))',
        f"{PAYOUTS}::test_payout_is_one_transfer_of_all_that_was_earned",
    ),
    Mutant(
        "counted twice: what is covered is summed once more",
        "wallet/selectors.py",
        'filter(vendor=OuterRef("pk"), covered__isnull=True)',
        'filter(vendor=OuterRef("pk"))',
        f"{EARNINGS}::test_what_is_covered_and_what_is_not_is_earned_once",
    ),
    Mutant(
        "never added up: adding digests forgets the balances",
        "wallet/services/digests.py",
        "            _update_balances([journal.pk for journal in batch])\n",
        "",
        f"{EARNINGS}::test_what_is_covered_and_what_is_not_is_earned_once",
    ),
    Mutant(
        "digest without its past: a digest does not hold the one before",
        "wallet/digests.py",
        "return _digest(FORMAT, number, previous_digest,",
        "return _digest(FORMAT, number,",
        f"{DIGESTS}::test_digest_holds_the_one_before",
    ),
    Mutant(
        "digest without the transfers: amounts can be changed",
        "wallet/digests.py",
        "            transfers.get(journal.pk, []),\n",
        "",
        f"{DIGESTS}::test_transfer_that_was_changed_names_its_journal",
    ),
    Mutant(
        "digest without owners: accounts can change hands",
        "wallet/digests.py",
        'sides = (("debit_id", "debit__kind", "debit__owner_id"), ("credit_id", "credit__kind", "credit__owner_id"))',
        'sides = (("debit_id", "debit__kind"), ("credit_id", "credit__kind"))',
        f"{DIGESTS}::test_account_that_became_someone_elses_names_every_journal_that_touches_it",
    ),
    Mutant(
        "digests unfollowed: one in the middle may be missing",
        "wallet/digests.py",
        "        if (ledger_digest.number, ledger_digest.previous_digest) != (previous.number + 1, previous.digest):\n",
        "        if False:\n",
        f"{DIGESTS}::test_digest_that_was_made_anew_breaks_the_chain_and_differs_from_what_was_kept",
    ),
    Mutant(
        "what commits late is never covered: only what is younger than the last digest is looked for",
        "wallet/services/digests.py",
        "    return Journal.objects.filter(covered__isnull=True, at__lte=until)",
        "    last = CoveredJournal.objects.order_by('-ledger_digest', '-position').values_list('journal_id', flat=True)[:1]\n"
        "    return Journal.objects.filter(covered__isnull=True, at__lte=until, **({'id__gt': last[0]} if last else {}))",
        f"{DIGESTS}::test_what_commits_late_is_covered_later",
    ),
    Mutant(
        "limits unasked: nothing is kept within them",
        "wallet/services/spending.py",
        "        enforce_limits(buyer=buyer, offer=offer, principal=principal)\n",
        "        pass\n",
        f"{LIMITS}::test_purchase_above_the_cap_is_refused_and_one_at_it_is_not",
    ),
    Mutant(
        "limits begin anew with each rotation",
        "wallet/services/limits.py",
        "return token.spender_id if",
        "return token.pk if",
        f"{LIMITS}::test_rotated_token_goes_on_where_the_old_one_was",
    ),
    Mutant(
        "the day never ends: yesterday's purchases count for today",
        "wallet/services/limits.py",
        "timezone.now().replace(hour=0,",
        "timezone.now().replace(year=2000, hour=0,",
        f"{LIMITS}::test_yesterdays_purchases_count_for_the_total_only",
    ),
    Mutant(
        "no limit: the admin's word for an app is not read",
        "developers/selectors.py",
        "SpendingLimit.objects.filter(Q(owner=principal.user) | Q(owner=None), app=principal.app)",
        "SpendingLimit.objects.filter(owner=principal.user, app=principal.app)",
        f"{LIMITS}::test_app_limit_of_the_admin_holds_beside_the_owners_limit",
    ),
    Mutant(
        "no category: anything is bought under any limit",
        "wallet/services/limits.py",
        "        if limit.categories and offer",
        "        if False and offer",
        f"{LIMITS}::test_other_categories_are_refused",
    ),
    Mutant(
        "quote for anything: what is asked for is not compared",
        "wallet/services/quotes.py",
        "        if wanted != quoted:\n",
        "        if False:\n",
        f"{QUOTES}::test_quote_for_something_else_is_refused_naming_it",
    ),
    Mutant(
        "quote forgotten: the present price is charged",
        "wallet/services/quotes.py",
        "return Offer(listing_offer, tier, quote.currency, quote.price_minor,",
        "return Offer(listing_offer, tier, quote.currency, listing_offer.price_of(tier, quote.currency) or 0,",
        f"{QUOTES}::test_quoted_price_is_charged_after_the_price_changed",
    ),
    Mutant(
        "quote again: a used one is good for another order",
        "wallet/services/quotes.py",
        "    if quote.order_id is not None:\n",
        "    if False:\n",
        f"{QUOTES}::test_quote_is_used_once_even_after_a_refund",
    ),
    Mutant(
        "present names: a receipt says what the asset is called now",
        "wallet/receipts.py",
        'what = f"{order.title},',
        'what = f"{order.listing.title},',
        "tests/wallet/test_history.py::test_what_was_sold_keeps_its_names_whatever_they_become",
    ),
    Mutant(
        "no lock: two ask for the same money",
        "wallet/services/wallet_payouts.py",
        "LedgerAccount.objects.select_for_update(no_key=True).filter(kind=AccountKind.WALLET, owner=user)",
        "LedgerAccount.objects.filter(kind=AccountKind.WALLET, owner=user)",
        "tests/wallet/test_wallet_payout_races.py::test_one_of_many_requests_of_a_wallet_is_taken",
    ),
    Mutant(
        "held money stays where it is: set aside in the books and not on the row",
        "wallet/services/wallet_payouts.py",
        "    change_held_amount(held_id, amount)\n    asked =",
        "    asked =",
        f"{LEAVING}::test_everything_is_what_the_wallet_holds_at_that_moment",
    ),
    Mutant(
        "decided again: the state is not looked at under the lock",
        "wallet/services/wallet_payouts.py",
        "    if not TRANSITIONS.allows(wallet_payout, verb):\n",
        "    if False:\n",
        f"{LEAVING}::test_what_is_settled_is_settled_once",
    ),
    Mutant(
        "decided at once: the request is read and not locked",
        "marketplace/core/transitions.py",
        "    row = lock(queryset, pk=pk)\n",
        "    row = queryset.get(pk=pk)\n",
        "tests/wallet/test_wallet_payout_races.py::test_what_is_decided_by_many_at_once_is_decided_once",
    ),
    Mutant(
        "own payout: staff pay themselves",
        "marketplace/core/transitions.py",
        "    if attrgetter(owner)(row) == actor.pk:\n",
        "    if False:\n",
        f"{LEAVING}::test_nobody_decides_on_their_own_payout",
    ),
    Mutant(
        "no password: any session takes the money out",
        "wallet/services/wallet_payouts.py",
        "    if not password_confirmed:\n",
        "    if False:\n",
        f"{LEAVING}::test_request_that_cannot_be_is_refused_and_moves_nothing",
    ),
    Mutant(
        "where to stays: payment details outlive the account",
        "marketplace/operations/people.py",
        '    WalletPayout.objects.filter(wallet__owner=user).update(payment_details="")\n',
        "",
        f"{LEAVING}::test_account_with_a_payout_that_waits_is_not_deleted_and_afterwards_where_to_is_forgotten",
    ),
    Mutant(
        "refund to nobody: a deleted account gets money",
        "wallet/services/refunds.py",
        "deleted = lock(User.objects.all(), pk=order.buyer_id).deleted",
        "deleted = lock(User.objects.all(), pk=order.buyer_id) is None",
        "tests/wallet/test_refunds.py::test_refund_to_a_deleted_account_waits_to_be_claimed_and_is_paid_once",
    ),
)
