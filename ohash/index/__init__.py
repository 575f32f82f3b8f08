"""Search in binary codes: exact neighbours by a scan or by multi-index hashing, and the way into other systems."""
