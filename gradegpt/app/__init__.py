"""The command line, judging files, and one call from Python."""
