"""The compressed form of a checkpoint file, byte-exact when unpacked; may refer to a base."""
