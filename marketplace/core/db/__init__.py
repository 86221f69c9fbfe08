"""What Django's ORM leaves out: triggers, lean inserts."""
