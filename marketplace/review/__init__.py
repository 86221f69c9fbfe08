"""What reviewers work with: the admin site and its base classes, decisions, queues, claims, saved replies."""
