"""What runs in the worker processes of Spark."""
