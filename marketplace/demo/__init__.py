"""The quickstart, the demo content, and its history."""
