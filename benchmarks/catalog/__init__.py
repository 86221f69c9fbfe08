"""How fast the public catalog is served: cached, unchanged, built anew, deep down, counted, beside a bare Django view."""
