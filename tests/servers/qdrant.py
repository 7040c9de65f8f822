"""A Qdrant server on loopback for as much of the REST protocol as the store uses, over qdrant-client's local mode.

    with QdrantServer() as server:
        store = open_store(StoreSettings(url=server.address), ("encoder/1", 8))
        server.is_well = False

Requests are carried out one after another, each whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, TypeAdapter
from qdrant_client import QdrantClient
from qdrant_client.http import models
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.servers.loopback import LoopbackServer

_SELECTOR: TypeAdapter[models.PointIdsList | models.FilterSelector] = TypeAdapter(
    models.PointIdsList | models.FilterSelector
)


class QdrantServer(LoopbackServer):
    """The server, running between ``with`` and its end, in a thread; while it is not well, it answers 503."""

    def __init__(self) -> None:
        super().__init__()
        self.is_well = True
        self._points = QdrantClient(":memory:")
        self._indexes: defaultdict[str, dict[str, Any]] = defaultdict(dict[str, Any])

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._points.close()

    def _routes(self) -> list[Route]:
        one, many = "/collections/{name}", "/collections/{name}/points"
        return [
            self._route("GET", "/collections", self._list),
            self._route("GET", one, self._info),
            self._route("PUT", one, self._create),
            self._route("DELETE", one, self._drop),
            self._route("GET", f"{one}/exists", self._exists),
            self._route("PUT", f"{one}/index", self._index),
            self._route("PUT", many, self._upsert),
            self._route("POST", f"{many}/delete", self._delete),
            self._route("POST", f"{many}/query", self._query),
            self._route("POST", f"{many}/count", self._count),
        ]

    def _route(self, method: str, path: str, does: Callable[..., Response]) -> Route:
        missing_allowed = path == "/collections" or path.endswith("/exists") or (method, path) in _NEEDS_NOTHING

        async def endpoint(request: Request) -> Response:
            body = await request.body()
            path_params = dict(request.path_params)
            name = path_params.pop("name", "")
            if not self.is_well:
                return _error(503, "not well")
            if not missing_allowed and not self._points.collection_exists(name):
                return _error(404, f"Not found: Collection `{name}` doesn't exist!")
            return does(name, body, **path_params)

        return Route(path, endpoint, methods=[method])

    def _list(self, name: str, body: bytes) -> Response:
        return _ok(self._points.get_collections())

    def _exists(self, name: str, body: bytes) -> Response:
        return _ok({"exists": self._points.collection_exists(name)})

    def _info(self, name: str, body: bytes) -> Response:
        info = self._points.get_collection(name).model_dump(mode="json", exclude_none=True)
        return _ok(info | {"payload_schema": self._indexes[name]})

    def _create(self, name: str, body: bytes) -> Response:
        if self._points.collection_exists(name):
            return _error(409, f"Wrong input: Collection `{name}` already exists!")
        asked = models.CreateCollection.model_validate_json(body)
        self._points.create_collection(
            name, asked.vectors, sparse_vectors_config=asked.sparse_vectors, metadata=asked.metadata
        )
        return _ok(True)

    def _drop(self, name: str, body: bytes) -> Response:
        self._indexes.pop(name, None)
        return _ok(self._points.delete_collection(name))

    def _index(self, name: str, body: bytes) -> Response:
        asked = models.CreateFieldIndex.model_validate_json(body)
        params = models.KeywordIndexParams.model_validate(asked.field_schema, from_attributes=True)
        self._indexes[name][asked.field_name] = {
            "data_type": "keyword",
            "params": params.model_dump(mode="json", exclude_none=True),
            "points": 0,
        }
        return _done()

    def _upsert(self, name: str, body: bytes) -> Response:
        asked = models.PointsList.model_validate_json(body)
        self._points.upsert(name, asked.points, update_filter=asked.update_filter, update_mode=asked.update_mode)
        return _done()

    def _delete(self, name: str, body: bytes) -> Response:
        self._points.delete(name, _SELECTOR.validate_json(body))
        return _done()

    def _query(self, name: str, body: bytes) -> Response:
        asked = models.QueryRequest.model_validate_json(body)
        found = self._points.query_points(
            name,
            asked.query,
            using=asked.using,
            query_filter=asked.filter,
            search_params=models.SearchParams(idf=asked.params.idf) if asked.params and asked.params.idf else None,
            limit=asked.limit or 10,
            with_payload=asked.with_payload or False,
        )
        return _ok(found)

    def _count(self, name: str, body: bytes) -> Response:
        asked = models.CountRequest.model_validate_json(body)
        return _ok(self._points.count(name, asked.filter))


_NEEDS_NOTHING = {("PUT", "/collections/{name}"), ("DELETE", "/collections/{name}")}


def _ok(result: object) -> Response:
    plain = result.model_dump(mode="json", exclude_none=True) if isinstance(result, BaseModel) else result
    return JSONResponse({"result": plain, "status": "ok", "time": 0.0})


def _done() -> Response:
    return _ok({"operation_id": 0, "status": "completed"})


def _error(status: int, message: str) -> Response:
    return JSONResponse({"status": {"error": message}, "time": 0.0}, status)
