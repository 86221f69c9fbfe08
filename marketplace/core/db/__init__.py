"""What Django's ORM leaves out: a read replica, triggers, lean inserts."""
