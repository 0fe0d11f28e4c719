"""What is asked of a box: for each subject the shell text and the parser of its answer."""
