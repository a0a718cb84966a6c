"""The command line: commands compute, renderers print."""
