"""L4: a run, its history and its runner; usable from a notebook."""
