"""RST trees as other tools read them: rs3 (rstWeb, RSTTool), dis (RST-DT, GUM), JSON, SVG."""
