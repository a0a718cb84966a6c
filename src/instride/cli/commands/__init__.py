"""One file a verb. A verb returns by printing; it raises InstrideError for what users can mend."""
