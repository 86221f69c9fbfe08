"""What changed between two versions of a listing: its details, and its file by the facts that the inspection recorded."""
