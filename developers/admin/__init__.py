"""Developer access in the admin: applications, scopes, apps, credentials. Importing the modules registers their classes."""

from . import applications, apps, clients, consents, credentials, scopes, webhooks

__all__ = ["applications", "apps", "clients", "consents", "credentials", "scopes", "webhooks"]
