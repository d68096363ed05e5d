"""What everything else builds on: rows, errors, settings, records, resources."""
