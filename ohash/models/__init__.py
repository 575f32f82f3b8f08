"""L1: hashing methods. One method is one file; `ohash.models.registry` finds them."""
