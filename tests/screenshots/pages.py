"""The pages of the demo, by who looks at them.

A page has a path; or a page before it, the selector of a link or button there, and what follows the link's address.
"""

FONT, SOUND = "kestrel-variable", "basement-drum-loops"
BOUGHT, UNBOUGHT = "halden-grotesk", "contract-clause-finder"
NOT_FOUND = "/nothing/is/here"
Way = str | tuple[str, str] | tuple[str, str, str]

_APP = ("/dashboard/apps", ".card-link a")
_LISTING = ("/dashboard/studio?status=Published", ".table .name a")
_CHANGE = "#result_list tbody a[href*=change]"
_FIRST = "#result_list tbody th a"

PAGES: dict[str, dict[str, Way]] = {
    "visitor": {
        "landing": "/",
        "browse": "/browse",
        "browse-category": "/browse?category=fonts&sort=price_asc",
        "browse-search": "/browse?q=grotsek",
        "browse-nothing": "/browse?q=zzqqxx",
        "browse-nothing-filtered": "/browse?category=fonts&minPrice=900",
        "browse-refused": "/browse?minPrice=cheap",
        "browse-second": "/browse?page=2&currency=INR",
        "browse-tag": "/browse?tag=lottie&sort=newest&currency=USD",
        "listing-font": f"/assets/{FONT}",
        "listing-sound": f"/assets/{SOUND}",
        "listing-motion": "/assets/pulse-lower-thirds",
        "listing-template": "/assets/launch-landing-page",
        "listing-look": "/assets/nordic-winter-tones",
        "listing-skill": f"/assets/{UNBOUGHT}",
        "listing-free": "/assets/commons-sans",
        "store": (f"/assets/{FONT}", "a[href^='/stores/']"),
        "docs": "/docs",
        "reference": "/api/v1/docs",
        "reference-operation": "/docs/api/searchAssets",
        "problems": "/problems",
        "problem": "/problems/insufficient_scope",
        "not-found": NOT_FOUND,
        "sign-in": "/account/login/",
        "sign-up": "/account/signup/",
        "password-reset": "/account/password/reset/",
        "password-reset-sent": "/account/password/reset/done/",
        "mail-sent": "/account/confirm-email/",
        "mail-link-old": "/account/confirm-email/nothing/",
    },
    "buyer": {
        "dashboard-new": "/dashboard",
        "checkout": (f"/assets/{UNBOUGHT}", "button:text('Continue to buy')"),
        "developer-apply": "/dashboard/developer",
        "apps-not-verified": "/dashboard/apps",
        "spending": "/dashboard/spending",
        "spending-token": ("/dashboard/spending", ".table .end a"),
        "connections": "/dashboard/connections",
        "account": "/account/email/",
        "account-password": "/account/password/change/",
        "account-own": "/dashboard/account",
        "account-delete": "/dashboard/account/delete",
        "studio-apply": "/dashboard/studio/apply",
        "wallet": "/dashboard/wallet",
        "wallet-payout-new": "/dashboard/wallet/payouts/new",
        "library": "/dashboard/library",
        "library-item": ("/dashboard/library", ".owned h2 a"),
        "order": ("/dashboard/wallet", ".table .name a"),
        "listing-owned": f"/assets/{BOUGHT}",
    },
    "otherVendor": {
        "second-factor": "/account/2fa/",
        "second-factor-set-up": "/account/2fa/totp/activate/",
        "sign-out": "/account/logout/",
    },
    "developer": {
        "dashboard": "/dashboard",
        "developer": "/dashboard/developer",
        "apps": "/dashboard/apps",
        "app-new": "/dashboard/apps/new",
        "app": _APP,
        "app-usage": (*_APP, "/usage?last=24h"),
        "app-scopes": (*_APP, "/scopes"),
        "app-redirects": (*_APP, "/redirects"),
        "webhooks": (*_APP, "/webhooks"),
        "webhook-new": (*_APP, "/webhooks/new"),
        "key-new": (*_APP, "/keys/new"),
        "console": "/dashboard/console",
        "console-call": "/dashboard/console/searchAssets",
        "tokens": "/dashboard/tokens",
        "token-new": "/dashboard/tokens/new",
        "token-usage": "/dashboard/tokens/usage?last=24h",
        "library-empty": "/dashboard/library",
        "wallet-payout": ("/dashboard/wallet", ".items a"),
        "wallet-waiting": "/dashboard/wallet",
        "account-delete-money": "/dashboard/account/delete",
        "sales-no-vendor": "/dashboard/studio/sales",
    },
    "vendor": {
        "studio": "/dashboard/studio",
        "studio-nothing": "/dashboard/studio?q=zzqqxx",
        "studio-new": "/dashboard/studio/listing-new",
        "studio-store": "/dashboard/studio/store",
        "studio-listing": _LISTING,
        **{
            f"studio-{section}": (*_LISTING, f"/{section}")
            for section in ("details", "prices", "licences", "files", "manifest", "reviews", "unpublish")
        },
        "studio-files-font": f"/dashboard/studio/listings/{FONT}/files",
        "sales": "/dashboard/studio/sales",
        "sales-year": "/dashboard/studio/sales?last=12m",
        "sales-listings": "/dashboard/studio/sales/listings",
        "sales-statement": "/dashboard/studio/sales/statement",
        "payouts": "/dashboard/studio/payouts",
        "token-revoke": ("/dashboard/tokens", ".table .end a:last-child"),
    },
    "admin": {
        "wallet-empty": "/dashboard/wallet",
        "admin": "/admin/",
        "admin-search": "/admin/search?q=halden",
        "admin-listings": "/admin/catalog/listing/",
        "admin-queue": "/admin/catalog/listingreview/?status__exact=all",
        "admin-review": ("/admin/catalog/listingreview/?status__exact=all", _CHANGE),
        "admin-refund": ("/admin/wallet/order/", _FIRST, "../refund/"),
        "admin-wallet-payouts": "/admin/wallet/walletpayout/",
        "admin-wallet-payout": ("/admin/wallet/walletpayout/", _CHANGE),
        "admin-wallet-payout-pay": ("/admin/wallet/walletpayout/", _CHANGE, "../pay/"),
        "admin-app": ("/admin/developers/app/", _FIRST),
        "admin-user": ("/admin/accounts/user/", _FIRST),
        "admin-category": ("/admin/catalog/category/", _FIRST),
        "admin-group": "/admin/auth/group/add/",
        "admin-vendor": ("/admin/vendors/vendorprofile/", _CHANGE),
    },
}
