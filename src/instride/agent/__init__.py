"""Compresses and prunes checkpoints of scripts that know nothing of it, beside their training."""
