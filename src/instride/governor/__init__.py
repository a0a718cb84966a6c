"""The control loop that keeps what background work costs training under a budget."""
