"""Training corpora to an encoder: one paper's objective, one file."""
