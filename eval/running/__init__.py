"""Questions asked: corpora, systems, resumable runs, token bills."""
