"""One module per channel: how a notice looks there, and when it counts as delivered. Pure."""
