"""Tests of onbox/terminal."""
