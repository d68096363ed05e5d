"""Rules: extract -> normalise -> compare, a module a step. They decide only what they can show."""
