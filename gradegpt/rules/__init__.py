"""Rules: extract -> normalise -> compare, one module a step. They decide only what they can show."""
