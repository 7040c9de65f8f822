"""What is promised of faults and attacks, broken on purpose: one module for each experiment, and the table of all."""
