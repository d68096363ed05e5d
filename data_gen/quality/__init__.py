"""Quality checks of the data: duplicates, and artifacts in the response."""
