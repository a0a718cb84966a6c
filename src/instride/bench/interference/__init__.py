"""What compressing a file beside a training does to its steps, by several ways of doing it."""
