from collections.abc import Sequence
from enum import Enum
from typing import BinaryIO, overload

class FileType(Enum):
    NotFound = 0
    Unknown = 1
    File = 2
    Directory = 3

class FileInfo:
    path: str
    type: FileType
    size: int

class FileSelector:
    def __init__(self, base_dir: str, allow_not_found: bool = ..., recursive: bool = ...) -> None: ...

class FileSystem:
    @staticmethod
    def from_uri(uri: str) -> tuple[FileSystem, str]: ...
    @overload
    def get_file_info(self, paths_or_selector: str) -> FileInfo: ...
    @overload
    def get_file_info(self, paths_or_selector: FileSelector | Sequence[str]) -> list[FileInfo]: ...
    def create_dir(self, path: str) -> None: ...
    def delete_file(self, path: str) -> None: ...

class LocalFileSystem(FileSystem):
    def __init__(self) -> None: ...

class S3FileSystem(FileSystem):
    def __init__(self, *, endpoint_override: str | None = ..., allow_bucket_creation: bool = ...) -> None: ...
    def open_output_stream(self, path: str) -> BinaryIO: ...

def copy_files(
    source: str, destination: str, source_filesystem: FileSystem, destination_filesystem: FileSystem
) -> None: ...
