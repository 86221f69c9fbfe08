"""What pages, mails and documents are made of: formatting, charts, mail, PDF, template tags. Knows no app."""
