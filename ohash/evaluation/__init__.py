"""L3: arrays in, numbers out."""
