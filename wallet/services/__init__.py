"""Everything that moves money: one function for each movement."""
