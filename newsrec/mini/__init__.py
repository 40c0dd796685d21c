"""The recipe of `mini`, the built-in encoder; `scripts/train_mini` runs it."""
