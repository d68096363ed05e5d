"""The general reader of prompts that no template recognises."""
