"""Grids of experiments: described, estimated, executed in processes or on a cluster, and summarised."""
