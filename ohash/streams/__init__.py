"""L2: datasets, pair streams, similarity."""
