"""GPUs: what NVML says of them, asked in a child of its own, and whether a card is sound."""
