"""RST trees as other tools exchange them: rs3 and rs4 (rstWeb, RSTTool), dis (RST-DT, GUM), JSON."""
