"""One dataset is one file that defines DATASET (one `DatasetSpec`, or a tuple of them)."""
