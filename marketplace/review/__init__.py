"""The admin site and its base classes, decisions, review queues, claims and saved replies."""
