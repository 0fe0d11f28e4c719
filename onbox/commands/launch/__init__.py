"""What `onbox chain` and `onbox resume` check, start and show."""
