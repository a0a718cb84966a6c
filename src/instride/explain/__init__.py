"""Why steps are slow: every second of a run gets an owner, every owner its evidence."""
