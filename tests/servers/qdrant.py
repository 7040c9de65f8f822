"""A Qdrant server on loopback for as much of the REST protocol as the store uses, over qdrant-client's local mode.

    with QdrantServer() as server:
        store = open_store(StoreSettings(url=server.address), ("encoder/1", 8))
        server.is_well = False

Requests are carried out one after another, each whole.
"""

from collections.abc import Callable

from pydantic import BaseModel, TypeAdapter
from qdrant_client import QdrantClient
from qdrant_client.http import models
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.servers.loopback import LoopbackServer

_DONE = {"operation_id": 0, "status": "completed"}
_SELECTOR: TypeAdapter[models.PointIdsList | models.FilterSelector] = TypeAdapter(
    models.PointIdsList | models.FilterSelector
)


class QdrantServer(LoopbackServer):
    """The server, running between ``with`` and its end, in a thread; while it is not well, it answers 503."""

    def __init__(self) -> None:
        super().__init__()
        self.is_well = True
        self._points = QdrantClient(":memory:")

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._points.close()

    def _routes(self) -> list[Route]:
        one, many = "/collections/{name}", "/collections/{name}/points"
        return [
            self._route("GET", "/readyz", lambda name, _: "all shards are ready"),
            self._route("GET", "/collections", lambda name, _: self._points.get_collections()),
            self._route("GET", one, lambda name, _: self._points.get_collection(name)),
            self._route("PUT", one, self._create),
            self._route("DELETE", one, lambda name, _: self._points.delete_collection(name)),
            self._route("GET", f"{one}/exists", lambda name, _: {"exists": self._points.collection_exists(name)}),
            self._route("PUT", f"{one}/index", lambda name, _: _DONE),
            self._route("PUT", many, self._upsert),
            self._route("POST", f"{many}/scroll", self._scroll),
            self._route("POST", f"{many}/delete", self._delete),
            self._route("POST", f"{many}/query", self._query),
            self._route("POST", f"{many}/count", self._count),
        ]

    def _route(self, method: str, path: str, does: Callable[[str, bytes], object]) -> Route:
        async def endpoint(request: Request) -> Response:
            body = await request.body()
            if not self.is_well:
                return JSONResponse({"status": {"error": "not well"}, "time": 0.0}, 503)
            try:
                result = does(request.path_params.get("name", ""), body)
            except ValueError as error:  # the collection does not exist, or exists already
                return JSONResponse({"status": {"error": str(error)}, "time": 0.0}, 404)
            plain = result.model_dump(mode="json", exclude_none=True) if isinstance(result, BaseModel) else result
            return JSONResponse({"result": plain, "status": "ok", "time": 0.0})

        return Route(path, endpoint, methods=[method])

    def _create(self, name: str, body: bytes) -> object:
        asked = models.CreateCollection.model_validate_json(body)
        return self._points.create_collection(
            name, asked.vectors, sparse_vectors_config=asked.sparse_vectors, metadata=asked.metadata
        )

    def _upsert(self, name: str, body: bytes) -> object:
        self._points.upsert(name, models.PointsList.model_validate_json(body).points)
        return _DONE

    def _delete(self, name: str, body: bytes) -> object:
        self._points.delete(name, _SELECTOR.validate_json(body))
        return _DONE

    def _query(self, name: str, body: bytes) -> object:
        asked = models.QueryRequest.model_validate_json(body)
        return self._points.query_points(
            name,
            asked.query,
            using=asked.using,
            query_filter=asked.filter,
            search_params=models.SearchParams(idf=asked.params.idf) if asked.params and asked.params.idf else None,
            limit=asked.limit or 10,
            with_payload=False,
        )

    def _scroll(self, name: str, body: bytes) -> object:
        asked = models.ScrollRequest.model_validate_json(body)
        points, _ = self._points.scroll(name, limit=asked.limit or 10)
        return models.ScrollResult(points=points)

    def _count(self, name: str, body: bytes) -> object:
        return self._points.count(name, models.CountRequest.model_validate_json(body).filter)
