"""What calls take and answer. Money is in kopecks; dates and times are in the service's own zone."""
