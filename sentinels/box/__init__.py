"""The program that looks on the box, and what it says."""
