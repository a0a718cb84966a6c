"""The bytes of a `.pt` file to be: a zip of stored records, laid out before it is written."""
