"""Several nodes and a worker with the production settings, on real servers that can be cut off one by one."""
