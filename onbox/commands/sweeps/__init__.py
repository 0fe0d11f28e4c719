"""What `onbox sweep` does behind its command line: what is asked for, the start, the words of a person, the views."""
