import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
import marketplace.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('catalog', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='WalletOwner',
            fields=[
            ],
            options={
                'verbose_name': 'wallet',
                'permissions': (('credit_wallet', "Can credit users' wallets"),),
                'proxy': True,
                'default_permissions': ('view',),
                'indexes': [],
                'constraints': [],
            },
            bases=('accounts.user',),
        ),
        migrations.CreateModel(
            name='BillingDetails',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('current', models.BooleanField(default=True)),
                ('name', models.CharField(max_length=120)),
                ('street', models.CharField(max_length=200)),
                ('postal_code', models.CharField(blank=True, max_length=16)),
                ('city', models.CharField(max_length=200)),
                ('region', models.CharField(blank=True, max_length=60)),
                ('country', models.CharField(max_length=2)),
                ('tax_id', models.CharField(blank=True, max_length=30)),
                ('seen_in', models.CharField(blank=True, max_length=2)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='billing_details', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'billing details',
                'ordering': ('-id',),
                'constraints': [models.UniqueConstraint(condition=models.Q(('current', True), ('owner__isnull', False)), fields=('owner',), name='billingdetails_one_current'), models.UniqueConstraint(condition=models.Q(('current', True), ('owner__isnull', True)), fields=('current',), name='billingdetails_one_of_operator'), models.CheckConstraint(condition=models.Q(models.Q(('name', ''), _negated=True), models.Q(('street', ''), _negated=True), models.Q(('city', ''), _negated=True), models.Q(('country', ''), _negated=True)), name='billingdetails_complete')],
            },
        ),
        migrations.CreateModel(
            name='ExchangeRate',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('currency', models.CharField(choices=[('INR', 'INR'), ('USD', 'USD')], max_length=3)),
                ('tax_currency', models.CharField(help_text='Such as EUR.', max_length=3)),
                ('rate', models.DecimalField(decimal_places=6, help_text='How many units of the tax currency one unit of the currency is.', max_digits=14)),
                ('valid_from', models.DateField()),
            ],
            options={
                'ordering': ('currency', 'tax_currency', '-valid_from'),
                'constraints': [models.UniqueConstraint(fields=('currency', 'tax_currency', 'valid_from'), name='exchangerate_once_a_day'), models.CheckConstraint(condition=models.Q(('currency__in', ['INR', 'USD'])), name='exchangerate_currency_known'), models.CheckConstraint(condition=models.Q(('rate__gt', 0)), name='exchangerate_positive')],
            },
        ),
        migrations.CreateModel(
            name='LedgerAccount',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('wallet', 'Wallet'), ('vendor', 'Vendor'), ('commission', 'Commission'), ('tax', 'Tax'), ('funding', 'Funding'), ('payout', 'Payout'), ('held', 'Held'), ('unclaimed', 'Unclaimed')], max_length=16)),
                ('currency', models.CharField(max_length=3)),
                ('may_go_negative', models.BooleanField()),
                ('balance_minor', models.BigIntegerField(default=0)),
                ('entries', models.PositiveBigIntegerField(default=0)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='ledger_accounts', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('owner__isnull', False)), fields=('kind', 'owner', 'currency'), name='ledgeraccount_one_of_owner'), models.UniqueConstraint(condition=models.Q(('owner__isnull', True)), fields=('kind', 'currency'), name='ledgeraccount_one_of_platform'), models.UniqueConstraint(fields=('id', 'currency'), name='ledgeraccount_id_currency'), models.CheckConstraint(condition=models.Q(('kind__in', ['wallet', 'vendor', 'commission', 'tax', 'funding', 'payout', 'held', 'unclaimed'])), name='ledgeraccount_kind_known'), models.CheckConstraint(condition=models.Q(('currency__in', ['INR', 'USD'])), name='ledgeraccount_currency_known'), models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('wallet', 'vendor', 'held')), ('owner__isnull', False)), models.Q(models.Q(('kind__in', ('wallet', 'vendor', 'held')), _negated=True), ('owner__isnull', True)), _connector='OR'), name='ledgeraccount_owner_fits_kind'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'wallet'), ('may_go_negative', False)), models.Q(('entries', 0), ('kind', 'held'), ('may_go_negative', False)), models.Q(models.Q(('kind__in', ('wallet', 'held')), _negated=True), ('entries', 0), ('may_go_negative', True)), _connector='OR'), name='ledgeraccount_bounds_fit_kind'), models.CheckConstraint(condition=models.Q(('may_go_negative', True), ('balance_minor__gte', 0), _connector='OR'), name='ledgeraccount_no_overdraft'), models.CheckConstraint(condition=models.Q(('balance_minor__lte', 9007199254740991)), name='ledgeraccount_balance_exact')],
            },
        ),
        migrations.CreateModel(
            name='LedgerDigest',
            fields=[
                ('number', models.BigIntegerField(primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=64)),
                ('previous_digest', models.CharField(blank=True, max_length=64)),
                ('journals', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ('number',),
                'constraints': [models.UniqueConstraint(fields=('previous_digest',), name='ledgerdigest_no_fork'), models.CheckConstraint(condition=models.Q(('journals__gte', 1), ('number__gte', 1)), name='ledgerdigest_of_something')],
            },
        ),
        migrations.CreateModel(
            name='Quote',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('license_slug', models.CharField(max_length=40)),
                ('currency', models.CharField(max_length=3)),
                ('price_minor', models.BigIntegerField()),
                ('tax_rate_bp', models.PositiveIntegerField()),
                ('tax_minor', models.BigIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.listing')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('tier', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.licensetier')),
            ],
            options={
                'ordering': ('-id',),
                'indexes': [models.Index(fields=['owner', 'expires_at'], name='quote_open'), models.Index(fields=['expires_at'], name='quote_expiry')],
                'constraints': [models.CheckConstraint(condition=models.Q(('currency__in', ['INR', 'USD'])), name='quote_currency_known'), models.CheckConstraint(condition=models.Q(('price_minor__gte', models.F('tax_minor')), ('tax_minor__gte', 0)), name='quote_tax_inside_price'), models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at'))), name='quote_lasts')],
            },
        ),
        migrations.CreateModel(
            name='TaxRate',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('country', models.CharField(help_text='The code of the country, such as DE.', max_length=2)),
                ('region', models.CharField(blank=True, help_text='The region if it has a rate of its own; in India the code of the state.', max_length=60)),
                ('rate_bp', models.PositiveIntegerField(help_text='1900 is 19 %. In India the whole of CGST and SGST.', verbose_name='rate in basis points')),
                ('valid_from', models.DateField()),
                ('valid_to', models.DateField(blank=True, help_text='The last day; empty if there is none yet.', null=True)),
            ],
            options={
                'ordering': ('country', 'region', '-valid_from'),
                'constraints': [models.UniqueConstraint(fields=('country', 'region', 'valid_from'), name='taxrate_once_a_day'), models.CheckConstraint(condition=models.Q(('rate_bp__lte', 10000)), name='taxrate_range'), models.CheckConstraint(condition=models.Q(('valid_to__isnull', True), ('valid_to__gte', models.F('valid_from')), _connector='OR'), name='taxrate_lasts')],
            },
        ),
        migrations.CreateModel(
            name='WalletSettings',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='wallet_settings', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('currency_preference', models.CharField(choices=[('INR', 'INR'), ('USD', 'USD')], default='INR', max_length=3)),
            ],
            options={
                'verbose_name_plural': 'wallet settings',
                'constraints': [models.CheckConstraint(condition=models.Q(('currency_preference__in', ['INR', 'USD'])), name='walletsettings_currency_known')],
            },
        ),
        migrations.CreateModel(
            name='Seller',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('is_active', models.BooleanField(default=True, help_text="Sales from now on are this seller's. A vendor who is not active sells through the operator.")),
                ('number_pattern', models.CharField(default='INV/{year}/{number}', help_text='{year} is the fiscal year, such as 26-27, {number} the number in it. Besides letters, digits, - and /. A number has at most 16 characters.', max_length=40)),
                ('fiscal_year_month', models.PositiveSmallIntegerField(default=1, help_text='The month in which the fiscal year begins: 4 in India.')),
                ('time_zone', models.CharField(default='UTC', help_text='The time zone of dates and fiscal years, such as Asia/Kolkata.', max_length=40)),
                ('tax_currency', models.CharField(blank=True, help_text='The currency of tax returns, such as EUR or INR. Tax is shown in it too, by the rates of exchange.', max_length=3)),
                ('service_code', models.CharField(blank=True, help_text='The code of the service on invoices, in India the SAC.', max_length=10)),
                ('details', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='wallet.billingdetails')),
                ('vendor', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='seller', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('id',),
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_active', True), ('vendor__isnull', True)), fields=('is_active',), name='seller_one_operator'), models.CheckConstraint(condition=models.Q(('fiscal_year_month__gte', 1), ('fiscal_year_month__lte', 12)), name='seller_month_known')],
            },
        ),
        migrations.CreateModel(
            name='Order',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(max_length=120)),
                ('store_name', models.CharField(max_length=120)),
                ('license_slug', models.CharField(max_length=40)),
                ('license_name', models.CharField(max_length=120)),
                ('version', models.CharField(blank=True, max_length=32)),
                ('currency', models.CharField(max_length=3)),
                ('price_minor', models.BigIntegerField()),
                ('tax_rate_bp', models.PositiveIntegerField()),
                ('tax_minor', models.BigIntegerField()),
                ('tax_treatment', models.CharField(choices=[('listing', "The listing's rate"), ('domestic', "The rate of the seller's country"), ('intra_state', 'CGST and SGST'), ('inter_state', 'IGST'), ('destination', "The rate of the consumer's country"), ('reverse_charge', 'Reverse charge'), ('export', 'Export')], default='listing', max_length=16)),
                ('commission_minor', models.BigIntegerField()),
                ('vendor_share_minor', models.BigIntegerField()),
                ('credential_kind', models.CharField(blank=True, max_length=16)),
                ('credential_id', models.UUIDField(blank=True, null=True)),
                ('spender_id', models.UUIDField(blank=True, null=True)),
                ('request_id', models.CharField(blank=True, max_length=64)),
                ('status', models.CharField(choices=[('Completed', 'Completed'), ('Refunded', 'Refunded')], default='Completed', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('refunded_at', models.DateTimeField(blank=True, null=True)),
                ('app', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('buyer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='orders', to=settings.AUTH_USER_MODEL)),
                ('buyer_details', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='wallet.billingdetails')),
                ('deliverable', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.deliverable')),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='catalog.listing')),
                ('quote', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='wallet.quote')),
                ('seller', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='wallet.seller')),
                ('tier', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.licensetier')),
            ],
            options={
                'ordering': ('-id',),
                'permissions': (('refund_order', 'Can refund orders'), ('pay_unclaimed_order', 'Can pay refunds owed to deleted accounts')),
                'indexes': [models.Index(fields=['buyer', '-created_at', '-id'], name='order_newest'), models.Index(condition=models.Q(('buyer_details__isnull', False)), fields=['buyer_details'], name='order_of_billing_details'), models.Index(condition=models.Q(('app__isnull', False), ('status', 'Completed')), fields=['buyer', 'app', 'currency', 'created_at'], include=('price_minor',), name='order_spent_by_app'), models.Index(condition=models.Q(('spender_id__isnull', False), ('status', 'Completed')), fields=['buyer', 'spender_id', 'currency', 'created_at'], include=('price_minor',), name='order_spent_by_token')],
                'constraints': [models.UniqueConstraint(fields=('quote',), name='order_quote_once'), models.CheckConstraint(condition=models.Q(('currency__in', ['INR', 'USD'])), name='order_currency_known'), models.CheckConstraint(condition=models.Q(('tax_treatment__in', ['listing', 'domestic', 'intra_state', 'inter_state', 'destination', 'reverse_charge', 'export'])), name='order_tax_treatment_known'), models.CheckConstraint(condition=models.Q(models.Q(('refunded_at__isnull', True), ('status', 'Completed')), models.Q(('refunded_at__isnull', False), ('status', 'Refunded')), _connector='OR'), name='order_status_fits_refund'), models.CheckConstraint(condition=models.Q(('commission_minor__gte', 0), ('tax_minor__gte', 0), ('vendor_share_minor__gte', 0)), name='order_parts_not_negative'), models.CheckConstraint(condition=models.Q(('price_minor', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('tax_minor'), '+', models.F('commission_minor')), '+', models.F('vendor_share_minor')))), name='order_parts_make_price')],
            },
        ),
        migrations.CreateModel(
            name='Journal',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('funding', 'Funding'), ('sale', 'Sale'), ('refund', 'Refund'), ('payout', 'Payout'), ('withdrawal', 'Withdrawal'), ('return', 'Return'), ('settlement', 'Settlement'), ('claim', 'Claim')], max_length=16)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('reason', models.CharField(max_length=2000)),
                ('request_id', models.CharField(blank=True, max_length=64)),
                ('wallet_entry', models.PositiveBigIntegerField(blank=True, null=True)),
                ('wallet_net_minor', models.BigIntegerField(blank=True, null=True)),
                ('wallet_balance_minor', models.BigIntegerField(blank=True, null=True)),
                ('vendor_net_minor', models.BigIntegerField(blank=True, null=True)),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('order', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='journals', to='wallet.order')),
                ('reverses', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reversed_by', to='wallet.journal')),
                ('vendor', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='vendor_journals', to='wallet.ledgeraccount')),
                ('wallet', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='wallet_journals', to='wallet.ledgeraccount')),
            ],
            options={
                'ordering': ('-id',),
                'indexes': [models.Index(condition=models.Q(('wallet__isnull', False)), fields=['wallet', 'at', 'id'], name='journal_of_wallet'), models.Index(condition=models.Q(('vendor__isnull', False)), fields=['vendor', 'at', 'id'], name='journal_of_vendor')],
                'constraints': [models.UniqueConstraint(fields=('order', 'kind'), name='journal_once_for_order'), models.UniqueConstraint(fields=('wallet', 'wallet_entry'), name='journal_wallet_entry_once'), models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('funding', 'payout', 'withdrawal', 'settlement')), ('order__isnull', True), ('reverses__isnull', True)), models.Q(('kind', 'return'), ('order__isnull', True), ('reverses__isnull', False)), models.Q(('kind__in', ('sale', 'claim')), ('order__isnull', False), ('reverses__isnull', True)), models.Q(('kind', 'refund'), ('order__isnull', False), ('reverses__isnull', False)), _connector='OR'), name='journal_fits_kind'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='journal_has_reason'), models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('payout', 'settlement', 'claim', 'refund')), ('wallet__isnull', True), ('wallet_balance_minor__isnull', True), ('wallet_entry__isnull', True), ('wallet_net_minor__isnull', True)), models.Q(models.Q(models.Q(('kind__in', ('funding', 'refund', 'return')), ('wallet_net_minor__gt', 0)), models.Q(('kind__in', ('sale', 'withdrawal')), ('wallet_net_minor__lt', 0)), _connector='OR'), ('wallet__isnull', False), ('wallet_balance_minor__gte', 0), ('wallet_balance_minor__isnull', False), ('wallet_entry__gte', 1), ('wallet_entry__isnull', False), ('wallet_net_minor__isnull', False)), _connector='OR'), name='journal_wallet_fits_kind'), models.CheckConstraint(condition=models.Q(models.Q(models.Q(('kind', 'payout'), _negated=True), ('vendor__isnull', True), ('vendor_net_minor__isnull', True)), models.Q(models.Q(models.Q(('kind__in', ('payout', 'refund')), ('vendor_net_minor__lt', 0)), models.Q(('kind', 'sale'), ('vendor_net_minor__gt', 0)), _connector='OR'), ('vendor__isnull', False), ('vendor_net_minor__isnull', False)), _connector='OR'), name='journal_vendor_fits_kind')],
            },
        ),
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=255)),
                ('fingerprint', models.CharField(max_length=64)),
                ('answer', models.JSONField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'key'), name='idempotencyrecord_key_used')],
            },
        ),
        migrations.CreateModel(
            name='CreditReference',
            fields=[
                ('journal', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='credit_reference', serialize=False, to='wallet.journal')),
                ('source', models.CharField(max_length=40)),
                ('reference', models.CharField(max_length=100)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('source', 'reference'), name='creditreference_once'), models.CheckConstraint(condition=models.Q(models.Q(('source', ''), _negated=True), models.Q(('reference', ''), _negated=True)), name='creditreference_of_something')],
            },
        ),
        migrations.CreateModel(
            name='Invoice',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('invoice', 'Invoice'), ('credit_note', 'Credit note')], max_length=16)),
                ('fiscal_year', models.PositiveSmallIntegerField()),
                ('sequence', models.PositiveIntegerField()),
                ('number', models.CharField(max_length=16)),
                ('buyer_name', models.CharField(max_length=254)),
                ('description', models.CharField(max_length=400)),
                ('service_code', models.CharField(blank=True, max_length=10)),
                ('treatment', models.CharField(choices=[('listing', "The listing's rate"), ('domestic', "The rate of the seller's country"), ('intra_state', 'CGST and SGST'), ('inter_state', 'IGST'), ('destination', "The rate of the consumer's country"), ('reverse_charge', 'Reverse charge'), ('export', 'Export')], max_length=16)),
                ('country', models.CharField(blank=True, max_length=2)),
                ('region', models.CharField(blank=True, max_length=60)),
                ('currency', models.CharField(max_length=3)),
                ('gross_minor', models.BigIntegerField()),
                ('tax_minor', models.BigIntegerField()),
                ('tax_rate_bp', models.PositiveIntegerField()),
                ('tax_currency', models.CharField(blank=True, max_length=3)),
                ('exchange_rate', models.DecimalField(blank=True, decimal_places=6, max_digits=14, null=True)),
                ('tax_in_tax_currency_minor', models.BigIntegerField(blank=True, null=True)),
                ('date', models.DateField()),
                ('issued_at', models.DateTimeField(auto_now_add=True)),
                ('buyer_details', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='wallet.billingdetails')),
                ('corrects', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='corrected_by', to='wallet.invoice')),
                ('journal', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='invoice', to='wallet.journal')),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='invoices', to='wallet.order')),
                ('seller', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='invoices', to='wallet.seller')),
                ('seller_details', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='wallet.billingdetails')),
            ],
            options={
                'ordering': ('-id',),
                'permissions': (('export_invoice', 'Can export invoices'),),
                'indexes': [models.Index(fields=['date', 'id'], name='invoice_by_date'), models.Index(fields=['-issued_at'], name='invoice_newest')],
                'constraints': [models.UniqueConstraint(fields=('seller', 'fiscal_year', 'sequence'), name='invoice_sequence_once'), models.UniqueConstraint(fields=('seller', 'number'), name='invoice_number_once'), models.UniqueConstraint(fields=('order', 'kind'), name='invoice_once_for_order'), models.CheckConstraint(condition=models.Q(('currency__in', ['INR', 'USD'])), name='invoice_currency_known'), models.CheckConstraint(condition=models.Q(('kind__in', ['invoice', 'credit_note'])), name='invoice_kind_known'), models.CheckConstraint(condition=models.Q(('treatment__in', ['listing', 'domestic', 'intra_state', 'inter_state', 'destination', 'reverse_charge', 'export'])), name='invoice_treatment_known'), models.CheckConstraint(condition=models.Q(models.Q(('corrects__isnull', True), ('kind', 'invoice')), models.Q(('corrects__isnull', False), ('kind', 'credit_note')), _connector='OR'), name='invoice_fits_kind'), models.CheckConstraint(condition=models.Q(('gross_minor__gt', 0), ('gross_minor__gte', models.F('tax_minor')), ('tax_minor__gte', 0)), name='invoice_amounts'), models.CheckConstraint(condition=models.Q(models.Q(('exchange_rate__isnull', True), ('tax_currency', ''), ('tax_in_tax_currency_minor__isnull', True)), models.Q(models.Q(('tax_currency', ''), _negated=True), ('exchange_rate__isnull', False), ('tax_in_tax_currency_minor__isnull', False)), _connector='OR'), name='invoice_exchange_complete')],
            },
        ),
        migrations.CreateModel(
            name='Transfer',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('amount_minor', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('credit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='credits', to='wallet.ledgeraccount')),
                ('debit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='debits', to='wallet.ledgeraccount')),
                ('journal', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='wallet.journal')),
            ],
            options={
                'ordering': ('-id',),
                'constraints': [models.UniqueConstraint(fields=('journal', 'debit', 'credit'), name='transfer_once_in_journal'), models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='transfer_positive'), models.CheckConstraint(condition=models.Q(('debit', models.F('credit')), _negated=True), name='transfer_two_accounts')],
            },
        ),
        migrations.CreateModel(
            name='VendorPayout',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('run', models.CharField(max_length=64)),
                ('payout_method', models.CharField(max_length=120)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payouts', to='wallet.ledgeraccount')),
                ('journal', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='payout', to='wallet.journal')),
            ],
            options={
                'ordering': ('-id',),
                'permissions': (('export_vendorpayout', 'Can export payouts with payout methods'),),
                'constraints': [models.UniqueConstraint(fields=('run', 'account'), name='vendorpayout_once_in_run'), models.CheckConstraint(condition=models.Q(models.Q(('run', ''), _negated=True), models.Q(('payout_method', ''), _negated=True)), name='vendorpayout_has_run_and_method')],
            },
        ),
        migrations.CreateModel(
            name='WalletPayout',
            fields=[
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('Waiting', 'Waiting'), ('Paid', 'Paid'), ('Refused', 'Refused'), ('Cancelled', 'Cancelled')], default='Waiting', max_length=16)),
                ('payment_details', models.CharField(blank=True, max_length=500)),
                ('reference', models.CharField(blank=True, max_length=100)),
                ('reason', models.CharField(blank=True, max_length=2000)),
                ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('asked', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='wallet_payout', to='wallet.journal')),
                ('claimed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('settled', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='settled_wallet_payout', to='wallet.journal')),
                ('wallet', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='wallet_payouts', to='wallet.ledgeraccount')),
            ],
            options={
                'verbose_name': 'wallet payout',
                'ordering': ('-id',),
                'permissions': (('decide_walletpayout', 'Can decide on wallet payouts and view payment details'),),
                'indexes': [models.Index(condition=models.Q(('status', 'Waiting')), fields=['requested_at'], name='walletpayout_waiting'), models.Index(fields=['wallet', '-id'], name='walletpayout_of_wallet'), models.Index(condition=models.Q(('reference', ''), _negated=True), fields=['reference'], name='walletpayout_by_reference')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'Waiting')), fields=('wallet',), name='walletpayout_one_open'), models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), ('reference', ''), ('settled__isnull', True), ('status', 'Waiting'), models.Q(('payment_details', ''), _negated=True)), models.Q(('reason', ''), ('settled__isnull', False), ('status', 'Paid'), models.Q(('reference', ''), _negated=True)), models.Q(('payment_details', ''), ('reference', ''), ('settled__isnull', False), ('status', 'Refused'), models.Q(('reason', ''), _negated=True)), models.Q(('payment_details', ''), ('reason', ''), ('reference', ''), ('settled__isnull', False), ('status', 'Cancelled')), _connector='OR'), name='walletpayout_status_fits')],
            },
        ),
        migrations.CreateModel(
            name='CoveredJournal',
            fields=[
                ('journal', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='covered', serialize=False, to='wallet.journal')),
                ('position', models.PositiveIntegerField()),
                ('digest', models.CharField(max_length=64)),
                ('ledger_digest', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='members', to='wallet.ledgerdigest')),
            ],
            options={
                'ordering': ('ledger_digest', 'position'),
                'constraints': [models.UniqueConstraint(fields=('ledger_digest', 'position'), name='coveredjournal_place')],
            },
        ),
    ]
