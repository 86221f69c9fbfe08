"""Services of the wallet."""
