"""The routes of the wallet under /api/v1."""

from django.urls import path

from .views import WalletViewSet

urlpatterns = [
    path("wallet", WalletViewSet.as_view({"get": "retrieve"}), name="wallet"),
    path("wallet/quote", WalletViewSet.as_view({"post": "quote"}), name="wallet-quote"),
    path("wallet/spend", WalletViewSet.as_view({"post": "spend"}), name="wallet-spend"),
]
