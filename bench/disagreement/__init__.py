"""Whether sources disagree: what the product reports, against labels of others."""
