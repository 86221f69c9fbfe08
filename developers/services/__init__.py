"""Changes to applications, apps, scopes and credentials: one function for each."""
