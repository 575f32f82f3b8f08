"""A run that is watched: its background thread, its pace, presets, the recording that plays first."""
