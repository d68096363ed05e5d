"""A model's accuracy from many judgements and few labels."""
