"""Codes that need no learning or only simple statistics of the data: LSH, signs, RaBitQ, PQ, int8."""
