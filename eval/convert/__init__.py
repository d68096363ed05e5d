"""What changes when one judge replaces another on the same items."""
