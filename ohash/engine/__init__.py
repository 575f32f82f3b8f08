"""One run: parameters, links, the world, learning, checkpoints, history, snapshots, replay, saving."""
