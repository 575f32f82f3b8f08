"""The runs that are kept on disk, and their list."""
