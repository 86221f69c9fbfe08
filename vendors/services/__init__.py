"""Changes to vendor profiles, listings and their files: one function for each."""
