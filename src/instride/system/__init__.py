"""What the system says about itself: mounts, memory limits, pressure, scheduling groups."""
