"""RST trees as other tools read them (rs3 of rstWeb and RSTTool, JSON), and for people (text, SVG)."""
