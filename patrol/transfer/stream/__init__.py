"""What goes over the connection: one long conversation, scripts for the far end, tar in both directions."""
