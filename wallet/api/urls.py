"""The routes of the wallet under /api/v1."""

from django.urls import path

from .views import (
    ApprovalViewSet,
    BillingViewSet,
    CallerViewSet,
    EarningsViewSet,
    HistoryViewSet,
    InvoiceViewSet,
    RefundRequestViewSet,
    TopUpViewSet,
    WalletViewSet,
)

urlpatterns = [
    path("me", CallerViewSet.as_view({"get": "retrieve"}), name="me"),
    path("wallet", WalletViewSet.as_view({"get": "retrieve", "patch": "update"}), name="wallet"),
    path("wallet/quote", WalletViewSet.as_view({"post": "quote"}), name="wallet-quote"),
    path("wallet/spend", WalletViewSet.as_view({"post": "spend"}), name="wallet-spend"),
    path("approvals/<str:approval_id>", ApprovalViewSet.as_view({"get": "retrieve"}), name="wallet-approval"),
    path("wallet/top-ups", TopUpViewSet.as_view({"post": "ask"}), name="wallet-top-ups"),
    path("wallet/top-ups/<str:top_up_id>", TopUpViewSet.as_view({"get": "retrieve"}), name="wallet-top-up"),
    path("wallet/transactions", HistoryViewSet.as_view({"get": "transactions"}), name="wallet-transactions"),
    path("orders", HistoryViewSet.as_view({"get": "orders"}), name="orders"),
    path("orders/<str:order_id>", HistoryViewSet.as_view({"get": "order"}), name="order"),
    path("orders/<str:order_id>/receipt", HistoryViewSet.as_view({"get": "receipt"}), name="order-receipt"),
    path("orders/<str:order_id>/receipt.pdf", HistoryViewSet.as_view({"get": "receipt_pdf"}), name="order-receipt-pdf"),
    path("orders/<str:order_id>/invoice", InvoiceViewSet.as_view({"get": "retrieve"}), name="order-invoice"),
    path("orders/<str:order_id>/invoice.pdf", InvoiceViewSet.as_view({"get": "pdf"}), name="order-invoice-pdf"),
    path("orders/<str:order_id>/credit-note.pdf", InvoiceViewSet.as_view({"get": "credit_note_pdf"}), name="order-credit-note-pdf"),
    path(
        "orders/<str:order_id>/refund-requests",
        RefundRequestViewSet.as_view({"get": "list", "post": "ask"}),
        name="order-refund-requests",
    ),
    path("orders/<str:order_id>/evidence", RefundRequestViewSet.as_view({"get": "evidence"}), name="order-evidence"),
    path("account/billing", BillingViewSet.as_view({"get": "retrieve", "patch": "update"}), name="billing"),
    path("vendor/earnings", EarningsViewSet.as_view({"get": "retrieve"}), name="vendor-earnings"),
]
