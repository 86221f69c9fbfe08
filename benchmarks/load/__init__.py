"""Mixed traffic over two nodes, then more than they can serve."""
