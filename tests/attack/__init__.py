"""What the costliest requests cost."""
