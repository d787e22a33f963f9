"""What the policy `predict` knows: a Gaussian over the round trips from all crawlers to a site."""
