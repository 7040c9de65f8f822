"""Data for RDR²'s router and its measures (sections 3.3 and 4.3, appendix A): ``python -m training.router --help``."""
