"""The command line: one file per command; nothing heavy at import."""
