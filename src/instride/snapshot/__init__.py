"""The state at the moment of `save()`, frozen and copied; no later write is visible in it."""
