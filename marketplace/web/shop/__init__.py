"""The storefront's own logic: what an address asks for, what is shown for it, in whose currency."""
