"""Commands about a run whose stages are jobs of an engine."""
