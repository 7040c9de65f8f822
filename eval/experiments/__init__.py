"""Tables and figures of papers: their files, their runs, and their tables next to the paper's."""
