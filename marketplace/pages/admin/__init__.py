"""The admin's first page and its sidebar: what spans the apps."""
