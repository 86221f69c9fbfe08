"""Pages that span apps."""

from django.urls import path

from .views import assets, checkout, docs, front, library, llms, overview, problems, sales, shop, wallet

urlpatterns = [
    path("", front.landing, name="landing"),
    path("browse", shop.browse, name="browse"),
    path("suggest", shop.suggestions, name="suggest"),
    path("assets/<slug:slug>", assets.asset, name="asset-page"),
    path("assets/<slug:slug>/specimen.css", assets.specimen, name="specimen"),
    path("assets/<slug:slug>/buy", checkout.begin, name="checkout-begin"),
    path("checkout/<uuid:quote_id>", checkout.confirm, name="checkout"),
    path("stores/<slug:slug>", assets.store, name="store"),
    path("dashboard", overview.dashboard, name="dashboard"),
    path("dashboard/wallet", wallet.wallet, name="wallet-page"),
    path("dashboard/wallet/preference", wallet.preference, name="wallet-preference"),
    path("dashboard/orders/<uuid:order_id>", wallet.order, name="order-page"),
    path("dashboard/orders/<uuid:order_id>/receipt.pdf", wallet.receipt, name="order-page-pdf"),
    path("dashboard/library", library.library, name="library-page"),
    path("dashboard/library/<slug:slug>", library.item, name="library-item"),
    path("dashboard/library/<slug:slug>/download", library.download, name="library-item-download"),
    path("dashboard/library/<slug:slug>/certificate.pdf", library.certificate, name="library-item-certificate"),
    path("dashboard/studio/sales", sales.sales, name="sales"),
    path("dashboard/studio/sales/listings", sales.by_listing, name="sales-listings"),
    path("dashboard/studio/sales/statement", sales.statement, name="sales-statement"),
    path("dashboard/studio/payouts", sales.payouts, name="payouts"),
    path("dashboard/studio/payouts.csv", sales.payouts_csv, name="payouts-csv"),
    path("docs", docs.index, name="docs-index"),
    path("docs/api/<slug:operation_id>", docs.operation, name="docs-operation"),
    path("docs/<slug:slug>", docs.page, name="docs-page"),
    path("docs/<slug:slug>.md", docs.source, name="docs-source"),
    path("problems", problems.problem_index, name="problems"),
    path("problems/<slug:code>", problems.problem_page, name="problem"),
    path("robots.txt", front.robots, name="robots"),
    path("llms.txt", llms.llms, name="llms"),
    path("sitemap.xml", front.sitemap, name="sitemap"),
    path("favicon.ico", front.favicon, name="favicon"),
]
