"""A directory of committed checkpoints with exactly one owner."""
