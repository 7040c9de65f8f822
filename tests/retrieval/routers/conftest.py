"""The tree that the tests of this folder share."""

import asyncio

import pytest

from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.routers.parks import six_flags


@pytest.fixture(scope="session")
def parks() -> RetrievalTree:
    return asyncio.run(six_flags())
