"""What the command line is made of, apart from its main commands."""
