"""Files compressed in frames with a table of them at the end, so that any part can be read."""
