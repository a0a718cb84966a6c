"""What will make steps slow or lose checkpoints, said before the run."""
