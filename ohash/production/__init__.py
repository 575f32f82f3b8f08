"""Beside a production system: learning from its stream of pairs, and encoding data sets of any size."""
