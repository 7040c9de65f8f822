"""The examples of "From Python" in docs/graphs.md as one program, with what must be true after each."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "graphs.md"
CHECKS = {
    "Read documents and ask": "all(s['evidence'] for s in state['answer']['sentences']) and state['ledger']",
    "Stream": "part['verify']['answer']['sentences']",
    "Ask asynchronously": "states[0]['answer'] == states[1]['answer'] == states[-1]['verify']['answer']",
    "Ask many questions": "len(states) == 20 and all(s['answer']['sentences'] for s in states)",
    "Use it as a node": "state['answer']['sentences']",
    "Use it as a tool": "'Sources:' in text and list(tool.args) == ['question']",
    "Replace a node": "state['answer']['plan']['paragraph'] == my_plan({})['plan']",
    "Stop, edit and resume": "state['answer']['plan']['paragraph'] == 'Say what [2] found.'",
    "Fork": "other['answer']['plan']['paragraph'] != 'Say what [2] found.'",
    "Review the plan": "state['answer']['plan']['paragraph'] == 'Say what [2] found.'",
    "Survive a crash": "state['answer']['sentences']",
}


def examples() -> dict[str, str]:
    """The program under each heading of the section."""
    section = PAGE.read_text("utf-8").partition("\n## From Python\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^### ([^\n]+)\n(?:(?!^### ).)*?```python\n(.*?)```", section, re.DOTALL | re.MULTILINE))


def program() -> str:
    """All examples in their order; each says its name when what it promises is true."""
    parts = [f"{code}\nassert {CHECKS[name]}, state\nprint({name!r})\n" for name, code in examples().items()]
    return "\n".join(parts)


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """The environment of a process that imports the clone and has its store in the folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "DISCO_RAG_HOME": str(folder / "home"), **variables}
