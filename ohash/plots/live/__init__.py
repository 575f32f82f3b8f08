"""The charts of one run."""
