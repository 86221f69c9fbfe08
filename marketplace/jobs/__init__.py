"""Background work: jobs in the database, written in the transaction of the change, done by `manage.py worker`.

The tasks, their table and how they are enqueued are Django's own framework with its database backend (django-tasks); what it
leaves out is here: retries, the jobs of workers that were killed, threads, and what is done on a schedule.
"""
