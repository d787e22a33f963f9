"""Looking into hierarchies: targets, organisations, differences between editions."""
