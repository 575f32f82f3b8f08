"""Methods that are fitted to a whole set of points at once."""
