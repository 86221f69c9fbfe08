"""The storefront: its parameters, results and offers, and the currency of prices."""
