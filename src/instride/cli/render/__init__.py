"""One file a way of showing things."""
