"""The groups of calls."""
