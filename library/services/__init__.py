"""Changes of licences, packages and download links."""
