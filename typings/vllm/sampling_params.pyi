from typing import Any

class StructuredOutputsParams:
    def __init__(self, *, json: dict[str, Any]) -> None: ...
