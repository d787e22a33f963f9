"""The durable side of running crawls on a coordinator: every link, until it is fetched."""
