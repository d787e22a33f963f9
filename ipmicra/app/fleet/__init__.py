"""The fleet: crawlers join, are listed and leave."""
