"""Prompts and chains: what they say, how long they may be, and their grammar."""
