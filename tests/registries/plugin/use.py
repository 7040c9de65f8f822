"""Ingests and asks with nothing but the tiny parts; tells what was asked of them."""

import json
import sys

import tiny_parts

from discorag.config import Settings
from interfaces.facade import DiscoRAG

parts = {"store": {"kind": "memory"}, "encoder": {"kind": "tiny"}, "reranker": {"kind": "tiny"}}
with DiscoRAG(Settings.model_validate(parts)) as rag:
    rag.ingest(sys.argv[1], parser="tiny", retriever="discourse")
    rag.ask("What limits the effect?", abstain="never", parser="tiny", retriever="tiny")
    versions = rag.documents()[0].versions
sys.stdout.write(json.dumps({"asked": sorted(tiny_parts.ASKED), **versions}))
