"""What is kept out of the data: evaluation questions, duplicates, and cues in the response."""
