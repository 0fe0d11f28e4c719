"""The commands of `handbook`, one file each."""
