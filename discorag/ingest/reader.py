"""Reads files for an ingest: text in this process, everything else in child processes, and all within limits."""

import asyncio
from pathlib import Path

from discorag.config import ReadingSettings
from discorag.ingest.convert.pool import Converters
from discorag.ingest.loaders import bytes_of, document_of, is_converted, read_text
from discorag.schema.document import Document


class Reader:
    """Reads files as `discorag.ingest.loaders.load` does, and stays alive whatever they are."""

    def __init__(self, reading: ReadingSettings) -> None:
        self._max_bytes = reading.max_bytes
        self._converters = Converters(reading)

    async def read(self, path: Path) -> Document:
        """The document of a file. Raises as `discorag.ingest.convert.pool.Converters.convert`."""
        data = await asyncio.to_thread(bytes_of, path, max_bytes=self._max_bytes)
        if is_converted(path):
            file = await self._converters.convert(data, path)
        else:
            file = await asyncio.to_thread(read_text, data, path)
        return await asyncio.to_thread(document_of, path, data, file)

    def close(self) -> None:
        """Stop the child processes."""
        self._converters.close()
