"""What the command line is made of, besides its main commands."""
