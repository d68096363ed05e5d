"""Rules: extract, normalise, compare, one module per step; they decide only what they can show."""
