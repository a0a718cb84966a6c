"""The low-priority process that turns images into committed checkpoints. It never loads torch."""
