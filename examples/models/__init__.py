"""Models whose weights others publish, with the names of the published files."""
