"""Several methods on the same data, stream and seeds: run, judged, costed, and put into words."""
