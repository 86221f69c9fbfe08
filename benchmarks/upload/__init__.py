"""What an upload costs, beside what hashing the same file costs."""
