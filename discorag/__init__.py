"""The core: types, algorithms, and what talks to the outside world. It imports no LangGraph."""
