"""Raw text to training corpora."""
