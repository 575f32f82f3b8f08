"""The Live page."""
