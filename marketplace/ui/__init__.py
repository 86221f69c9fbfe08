"""Form fields, formatting, charts, mail, PDF, template tags and progress bars; independent of the apps."""
