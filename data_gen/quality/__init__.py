"""What is kept out of the data: evaluation questions, duplicates, and artifacts in the response."""
