"""``python -m discorag`` is the command ``disco-rag``."""

from discorag import main

if __name__ == "__main__":
    main()
