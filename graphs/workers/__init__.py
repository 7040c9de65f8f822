"""One server of several processes: workers, one keeper of what they share, and who watches over all of them."""
