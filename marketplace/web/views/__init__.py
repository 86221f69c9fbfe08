"""Pages that span apps."""
