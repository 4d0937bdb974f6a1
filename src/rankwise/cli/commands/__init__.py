"""The commands, one module each: options in, results out. The work is done elsewhere."""
