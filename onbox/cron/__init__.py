"""The user's crontab and when its lines are due."""
