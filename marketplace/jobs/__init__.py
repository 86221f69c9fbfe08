"""Background jobs, enqueued in the transaction of the change and run by `manage.py worker`.

The tasks, their table and how they are enqueued are Django's own framework with its database backend (django-tasks); what it
leaves out is here: retries, recovery of the jobs of killed workers, threads, and scheduled commands.
"""
