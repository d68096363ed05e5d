"""train: the built-in base from scratch, and LoRA SFT on any base."""
