from typing import Any

class YAMLError(Exception): ...

class ScalarNode:
    style: str | None

class BaseLoader:
    def construct_scalar(self, node: ScalarNode) -> Any: ...

def safe_load(stream: str) -> Any: ...
