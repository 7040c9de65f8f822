"""What a store in a folder has beside its points: who owns it, what is in it, whether it is whole, and room."""
