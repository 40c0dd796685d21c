"""The tables and figures of paper 004 ("News Without Borders", Iana et al. 2024), run again."""
