"""Steps, events and runs: what a training log says, whatever trainer wrote it."""
