"""What "similar" means: by label or track, by distance, or by given pairs."""
