"""Changes to licences, packages and download links: one function for each."""
