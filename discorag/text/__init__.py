"""Reading: loaders, headings, sentences, chunks, all with exact offsets."""
