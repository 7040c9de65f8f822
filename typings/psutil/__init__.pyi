from typing import NamedTuple

STATUS_ZOMBIE: str
CONN_LISTEN: str

class Error(Exception): ...
class NoSuchProcess(Error): ...

class _Memory:
    rss: int

class _Times(NamedTuple):
    user: float
    system: float
    children_user: float
    children_system: float
    iowait: float

class _Address(NamedTuple):
    ip: str
    port: int

class _Connection:
    laddr: _Address | str
    status: str

class Process:
    pid: int

    def __init__(self, pid: int | None = None) -> None: ...
    def memory_info(self) -> _Memory: ...
    def cpu_times(self) -> _Times: ...
    def cmdline(self) -> list[str]: ...
    def net_connections(self, kind: str = "inet") -> list[_Connection]: ...
    def num_fds(self) -> int: ...
    def children(self, recursive: bool = False) -> list[Process]: ...
    def is_running(self) -> bool: ...
    def status(self) -> str: ...
