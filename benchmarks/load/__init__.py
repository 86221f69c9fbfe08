"""Mixed traffic over two nodes for as long as you like, then more than they can serve."""
