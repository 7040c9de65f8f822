"""What a notebook shows of trees, graphs and answers: HTML and SVG that load nothing from elsewhere."""
