from collections.abc import Callable
from typing import IO

class Result:
    value: str

def convert_to_html(
    fileobj: IO[bytes], *, style_map: str = ..., convert_image: Callable[[object], list[object]] = ...
) -> Result: ...
