"""What lies in a sweep's directory: its definition, its cells and the journal over them, what a person asked for."""
