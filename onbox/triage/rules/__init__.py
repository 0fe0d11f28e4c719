"""What a line means: a table of rules by theme, the first that matches wins. Pure."""
