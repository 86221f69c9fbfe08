"""The admin's first page and its menu: what spans the apps."""
