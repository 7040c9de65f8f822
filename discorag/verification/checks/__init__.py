"""What can speak against a sentence, one check a module."""
