"""The tools: what each is called, takes, answers and demands, and how it is run."""
