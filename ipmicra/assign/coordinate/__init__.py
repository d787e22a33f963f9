"""Network coordinates: round trips to a few crawlers become an estimate of the round trip to all of them."""
