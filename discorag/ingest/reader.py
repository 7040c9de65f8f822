"""Reads files for an ingest: text in this process, everything else in child processes, and all within limits."""

import asyncio
import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from discorag.config import ReadingSettings
from discorag.ingest.bucket import download, is_bucket
from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.pool import Converters
from discorag.ingest.loaders import Source, bytes_of, converter_version, document_of, is_converted, read_text
from discorag.schema.document import Document
from discorag.schema.errors import ConversionLimitError, ConverterDiedError, InputError, RefusedFileError
from discorag.schema.values import digest
from discorag.store.uploads import Conversions


class Reader:
    """Reads files as `discorag.ingest.loaders.load` does, and stays alive whatever they are.

    Without ``conversions`` no failure is counted, and no file refused.
    """

    def __init__(self, reading: ReadingSettings, conversions: Conversions | None = None) -> None:
        self._reading = reading
        self._conversions = conversions
        self._converters = Converters(reading)

    async def read(self, source: Source, *, again: bool = False) -> Document:
        """The document of a file; ``again`` converts it even if that failed too often.

        Raises:
            RefusedFileError: It ran into limits, or took its converter down, too often.
            InputError: As `discorag.ingest.convert.pool.Converters.convert`.
            StoreError: A failure cannot be counted.
        """
        if not is_bucket(source.uri):
            return await self._read(source, again=again)
        with TemporaryDirectory(prefix="disco-rag-") as folder:
            path = await asyncio.to_thread(download, source.uri, Path(folder), self._reading.max_bytes)
            try:
                return await self._read(Source(path, source.uri), again=again)
            except InputError as error:
                error.message = error.message.replace(str(path), source.uri)
                raise

    async def _read(self, source: Source, *, again: bool) -> Document:
        data = await asyncio.to_thread(bytes_of, source.path, max_bytes=self._reading.max_bytes)
        if is_converted(source.path):
            file = await self._convert(source, data, again=again)
        else:
            file = await asyncio.to_thread(read_text, data, source.path)
        document = await asyncio.to_thread(document_of, source, file)
        file_hash = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        return document.model_copy(update={"file_hash": file_hash, "file_bytes": len(data)})

    async def _convert(self, source: Source, data: bytes, *, again: bool) -> Converted:
        """The file converted; what it ran into is counted."""
        key = await asyncio.to_thread(self._key, source, data)
        if self._conversions and not again:
            try:
                await asyncio.to_thread(self._conversions.check, key)
            except RefusedFileError as error:
                raise RefusedFileError(f"{source.path}: {error.message}", hint=error.hint) from error
        try:
            converted = await self._converters.convert(data, source.path)
        except (ConversionLimitError, ConverterDiedError) as error:
            if self._conversions:
                await asyncio.to_thread(self._conversions.failed, key, error.reason)
            raise
        if self._conversions:
            await asyncio.to_thread(self._conversions.succeeded, key)
        return converted

    def _key(self, source: Source, data: bytes) -> str:
        """Of the content, and of what converts it: another converter or other limits may be up to it."""
        reading = self._reading
        limits = f"{reading.convert_seconds} {reading.convert_mb} {reading.output_bytes}"
        version = converter_version(source.path.suffix)
        return digest(f"{hashlib.sha256(data).hexdigest()} {version} {limits}")

    def close(self) -> None:
        """Stop the converters."""
        self._converters.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
