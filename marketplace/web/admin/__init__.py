"""The admin's first page and its menu, which span the apps."""
