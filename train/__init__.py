"""train: LoRA fine-tuning of a chat model or an encoder as a judge, on labels or on rows."""
