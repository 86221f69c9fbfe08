"""What Django's ORM leaves out: a read replica, triggers, prepared look-ups, several querysets in one statement."""
