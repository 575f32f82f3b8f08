"""Methods that learn from a stream, pair by pair, point by point or chunk by chunk."""
