"""The calls of the service, in groups."""
