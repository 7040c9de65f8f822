"""``python -m discorag`` is the command ``disco-rag``."""

from discorag import main

main()
