from collections.abc import Sequence

class Node:
    type: str

class Token(Node):
    lower_value: str

class Declaration(Node):
    lower_name: str
    value: list[Token]
    important: bool

class QualifiedRule(Node):
    prelude: list[Node]
    content: list[Node]

def parse_stylesheet(
    input: str, skip_comments: bool = ..., skip_whitespace: bool = ...
) -> list[QualifiedRule | Node]: ...
def parse_blocks_contents(
    input: str | Sequence[Node], skip_comments: bool = ..., skip_whitespace: bool = ...
) -> list[Declaration | Node]: ...
def serialize(nodes: Sequence[Node]) -> str: ...
