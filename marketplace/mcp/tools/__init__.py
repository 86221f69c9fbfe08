"""The tools: their definitions, and how they are called."""
