"""train: the embedded base from scratch, and LoRA SFT on any base."""
