"""Every figure that README and docs show of a benchmark is the one of its committed result file."""

import json
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

from bench.conflicts.__main__ import group_of, is_genuine
from bench.conflicts.marks import load_rounds

RESULTS = Path("bench/results")
EVAL_RESULTS = Path("eval/results")
MOST_BYTES = 100_000


def result(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def signed(values: list[float]) -> str:
    """``+13 [+2, +24]``."""
    value, low, high = (f"{v:+g}" for v in values)
    return f"{value} [{low}, {high}]"


def interval(values: list[float]) -> str:
    """``+1.3 [+0.2, +2.4]``."""
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*values)


def fixed(value: float, digits: int) -> str:
    """The number with so many decimals, halves up."""
    return str(Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def speed() -> Iterator[tuple[str, str]]:
    f = result("speed")["figures"]
    shown = "bench/README.md"
    yield shown, f"| {fixed(f['ask_unseen_floors'], 2)} ({fixed(f['ask_unseen_ms'], 0)}) | 12"
    yield shown, f"| {fixed(f['ask_unseen_floors_dense'], 2)} ({fixed(f['ask_unseen_ms_dense'], 0)}) | 12"
    yield shown, f"| {fixed(f['ask_known_floors'], 2)}; {fixed(f['ask_known_floors_dense'], 2)} | 12"
    yield shown, f"| {fixed(f['ingest_passes'], 2)} ({fixed(f['ingest_words_per_cpu_s'], 0)}) |"
    yield shown, f"| {fixed(f['help_ratio'], 2)} |"
    yield shown, f"| {fixed(f['first_answer_cpu_s'], 2)} |"
    yield shown, f"| {f['peak_mb']:,.0f} |"
    yield "docs/measure.md", f"a new question costs {fixed(f['ask_unseen_floors'], 1)} encodings with their search"
    yield "docs/deploy.md", f"takes {fixed(f['peak_mb'] / 1000, 1)} GB at its peak"


def peers() -> Iterator[tuple[str, str]]:
    f, shown = result("peers")["figures"], "bench/README.md"
    labels = {"llamaindex": "LlamaIndex", "haystack": "Haystack", "langchain": "LangChain"}
    labels |= {"plain": "disco-rag, `parser=none retriever=dense`", "default": "disco-rag as it comes"}
    for name, label in labels.items():
        own = f[name]
        times = (f"{own['words_per_cpu_s']:,.0f}", fixed(own["query_cpu_ms"], 1), fixed(own["reranked_cpu_ms"], 0))
        yield shown, f"| {' | '.join((label, *times, fixed(own['questions_per_s'], 2), format(own['peak_mb'], ',')))} |"
    ratios = f["ratios"]["plain"].values()
    yield shown, f"costs {fixed(max(r['reranked_cpu_ms'] for r in ratios), 2)} of the fastest"
    yield shown, f"memory {fixed(max(r['peak_mb'] for r in ratios), 2)} of the smallest"
    yield shown, f"reads {fixed(min(r['words_per_cpu_s'] for r in ratios), 2)} of the words"
    assert f["rounds"] == 3


def parser() -> Iterator[tuple[str, str]]:
    f = result("parser")["fast"]
    for key, label in (("gold", "gold EDUs"), ("end_to_end", "end to end"), ("sentence", "sentence leaves")):
        scores = [f"{f[key][score]:.1f}" for score in ("span", "nuclearity", "relation", "full")]
        yield "bench/README.md", f"| fast, {label} | {' | '.join(scores)}"
    yield "docs/parser.md", f"| **`fast`, in the package** | {full_and_seg(f)} |"


def full_and_seg(scores: dict[str, dict[str, float]]) -> str:
    """Full over gold EDUs, and end to end with Seg."""
    whole = scores["end_to_end"]
    return f"{scores['gold']['full']:.1f} | {whole['full']:.1f} ({whole['seg']:.1f})"


def verify() -> Iterator[tuple[str, str]]:
    f, page = result("verify")["figures"], "docs/verification.md"
    judged = result("archive")["judge"]["figures"]
    for name in ("forged", "true", "paraphrase", "edited"):
        yield page, f"| {' | '.join(str(f[name][key]) for key in ('n', 'quoted', 'cited', 'check'))} |"
        states = (str(judged[name][key]) for key in ("n", "supported", "not_supported", "not_verified"))
        yield page, f"| {' | '.join(states)} |"
    for name in ("forged", "edited"):
        assert f[name]["supported"] == f[name]["quoted"] == 0
        for kind, of in f[name]["kinds"].items():
            yield page, f"| {kind} | {of['n']} | {of['marked']} | {of['unmarked']} |"
    for name, score in f["auc"].items():
        yield page, f"| {name} | {score['value']} | {score['low']} to {score['high']} |"
    replies = result("replies")["figures"]
    yield page, "{check} of {n} sentences are to be checked".format(**replies["sentences"])
    yield (
        page,
        "Of {n} sentences with a wrong passage number, {repaired} get the right one again and {check}".format(
            **replies["wrong passage numbers"]
        ),
    )
    for name, planted in replies["planted by kind and origin"].items():
        yield page, f"| {name} | {planted['n']} | {planted['check']} |"
    capable = result("archive")["capable-verification"]["figures"]
    for row in capable["judge"].values():
        yield page, f"| {' | '.join(map(str, row.values()))} |"
    yield page, "of {sentences} sentences, {check} are to be checked".format(**capable["first look at 625 sentences"])
    forged = f["forged"]
    yield "README.md", f"of {forged['n']} forged sentences none is called supported, and {forged['check']} are marked"


def conflicts() -> Iterator[tuple[str, str]]:
    f, page = result("conflicts")["figures"], "docs/audit.md"
    planted, wiki = f["planted"], f["wikicontradict"]
    assert planted["false"] == 0
    yield page, f"planted: {planted['conflicts']} conflicts in five pairs of documents"
    yield page, f"reported (none is false) | {planted['sure']} | {planted['possible']} |"
    counts = (f"{wiki[tier]['right']}; {wiki[tier]['other']}" for tier in ("sure", "possible"))
    yield page, f"another report | {' | '.join(counts)} |"
    for kind, label in (("agree", "that agree"), ("namesakes", "namesakes"), ("wrong", "something wrong")):
        shares = (fixed(100 * f["ramdocs"][kind][tier]["value"], 1) for tier in ("sure", "possible"))
        yield page, f"{label} | {' | '.join(f'{share} %' for share in shares)} |"


def recall() -> Iterator[tuple[str, str]]:
    f, page = result("conflicts")["figures"], "docs/audit.md"

    def found(part: str, kind: str) -> tuple[int, int, int]:
        sure, possible, missed = (f["recall"][part].get(f"{kind} {t}", 0) for t in ("sure", "possible", "missed"))
        return sure + possible + missed, sure, possible

    (edits, sure, possible), (real, seen, perhaps) = found("score", "edited"), found("score", "real")
    yield page, f"with an edited value, found of {edits} | {sure} | {possible} |"
    yield page, f"between two versions, found of {real} | {seen} | {perhaps} |"
    (edits, sure, possible), (real, seen, perhaps) = found("fit", "edited"), found("fit", "real")
    yield page, f"edited values, found of {edits}; real changes, of {real} | {sure}; {seen} | {possible}; {perhaps} |"
    yield page, f"tales and papers | {f['unrelated_false']['sure']} | {f['unrelated_false']['possible']} |"
    cost, filings = f["cost"], f["filings"]
    yield page, f"which took {cost['encoding']} s of processor time on a busy machine"
    yield page, f"takes {cost['audit']} s ({cost['passes']} passes together"
    yield page, f"and {cost['one_document_changed']} s after one document"
    yield page, f"which takes {cost['reading']} s in both cases"
    yield page, f"there are {filings['contradicts']} sure contradictions, of which {filings['genuine']} are genuine"


def precision() -> Iterator[tuple[str, str]]:
    f, page = result("conflicts")["figures"]["precision_by_hand"], "docs/audit.md"
    labels = {"sure": "sure findings", "possible": "possible findings", "with_round_before": "findings together"}
    for name, label in labels.items():
        share, bounds = fixed(100 * f[name]["value"], 0), f"{fixed(f[name]['low'], 2)} to {fixed(f[name]['high'], 2)}"
        yield page, f"{f[name]['genuine']} of {f[name]['n']} {label} ({share} %, interval {bounds})"
    sure = f["sure"]
    yield "README.md", f"{sure['genuine']} of {sure['n']} ({fixed(100 * sure['value'], 0)} %)"
    yield page, f"{f['differs']['genuine']} of {f['differs']['n']} sure differences"
    yield page, f"{f['near misses']['genuine']} of {f['near misses']['n']} near misses"
    for rows in load_rounds()[:-1]:
        findings = [row for row in rows if group_of(row) == "sure"]
        yield page, f"| {sum(map(is_genuine, findings))} of {len(findings)} |"
    share = f"{fixed(100 * f['agreement'], 0)} % of {f['pairs']} pairs (kappa {fixed(f['kappa'], 1)})"
    yield page, f"agree about what is genuine in {share}, and give the same mark to {f['same_mark']}"


def answers() -> Iterator[tuple[str, str]]:
    f, page = result("answers")["figures"], "README.md"
    for name, label in (("hotpotqa", "HotpotQA"), ("nq", "Natural Questions")):
        own, bm25 = (fixed(f["first_sentence"][name][row]["value"], 0) for row in ("product", "bm25"))
        yield page, f"{label} {own} % ({'BM25 ' if name == 'hotpotqa' else ''}{bm25})"
    for row in f["first_sentence"].values():
        own, refusing, *others = (
            f"{row[key]['value']:.1f}" for key in ("product", "product_refusing", "bm25", "cosine", "reranker")
        )
        yield "docs/answers.md", f"| {own} ({refusing}) | {' | '.join(others)} |"
    every, tales = (f["lint"][name] for name in ("all", "fairytaleqa"))
    yield "docs/answers.md", f"Of {every['answers']} answers, {every['dangling']['value']} % have a sentence"
    yield "docs/answers.md", f"of those over tales {tales['dangling']['value']} %"
    refused = f["clapnq"]
    right, wrong = (fixed(100 * refused[key]["value"], 0) for key in ("refused_right", "refused_wrong"))
    yield page, f"{right} % of them are, and {wrong} % of the answerable ones by mistake"
    own, cosine = (fixed(row["auc"]["value"], 2) for row in (refused, refused["simple"]["cosine"]))
    yield page, f"a plain cosine separates the two equally well (AUC {cosine}, ours {own})"


def retrieval() -> Iterator[tuple[str, str]]:
    earlier, page = result("archive")["retrieval"]["figures"], "docs/retrieval.md"
    today = result("retrieval")["figures"]["fairytaleqa"]
    for name, row in today.items():
        tales, meetings = (earlier[name][dataset]["recall"] for dataset in ("fairytaleqa", "qmsum"))
        yield page, f"| {row['recall']['value']} | {tales} | {meetings} |"
    for name, other in (
        ("discourse", "bisection"),
        ("random-trees", "bisection"),
        ("snapped", "slide"),
        ("snapped-rst", "snapped-random"),
    ):
        gain = today[name][f"less_{other}"]
        yield page, signed([gain["value"], gain["low"], gain["high"]])
    trees = earlier["discourse - bisection"]
    inside = today["snapped-rst"]["less_snapped-random"]
    yield "docs/science.md", f"{signed([inside['value'], inside['low'], inside['high']])} points of recall"
    yield page, f"{signed(trees['fairytaleqa'])} on FairytaleQA and {signed(trees['qmsum'])} on QMSum"


def trust() -> Iterator[tuple[str, str]]:
    found, page = result("trust"), "docs/reliability.md"
    poison, files = found["poison"], found["file_shares"]
    yield page, f"a file took {poison['alone_s']} s alone and {poison['block_of_others_s']} s more at worst"
    yield (
        page,
        f"within ten minutes {poison['count'] - poison['not_ended']} of the {poison['count']} poison files ended",
    )
    yield page, f"in flight, divided by the {found['shares']['alone_s']} s that it takes alone"
    yield page, f"in flight, divided by the {files['alone_s']} s that it takes alone"
    yield (
        page,
        f"read {files['files_per_s']} a second meanwhile, and {files['files_per_s_without']} without the questions",
    )


def differences() -> Iterator[tuple[str, str]]:
    for suite, metrics in result("differences", EVAL_RESULTS)["figures"].items():
        for metric, row in metrics.items():
            yield "eval/README.md", f"| {suite} | `{metric}` | {row['n']} | {row['standard']} |"
            for value in (v for k, v in row.items() if " - " in k and len(v) == 3):
                yield "eval/README.md", interval(value)
            if (suite, metric) in (("fairytaleqa", "gold_precision"), ("qasper", "answer_f1")):
                value, low, high = (abs(v) for v in row["full - no-tree"])
                yield "docs/science.md", f"{value} [{high}, {low}] "


COMPARED = ("standard", "standard-hybrid", "verbatim", "lead")
MAIN = {
    "asqa": ("str_em", "rougeLsum"),
    "hotpotqa": ("contains_answer", "fact_recall@300"),
    "lay-summaries": ("rougeLsum", "sari"),
    "loong-en": ("document_recall@10",),
    "loong-zh": ("document_recall@10",),
    "qasper": ("answer_f1", "disretrieval_recall@300"),
}


def expected() -> Iterator[tuple[str, str]]:
    for file in Path("eval/expected").glob("dev-*.json"):
        found = json.loads(file.read_text("utf-8"))
        systems, suite = found["systems"], found["suite"].partition("/")[0]
        for metric in MAIN[suite]:
            means = (f"{systems[name][metric]['value']:.1f}" if name in systems else "–" for name in COMPARED)
            yield "eval/README.md", f"| {suite} | {found['n']} | `{metric}` | {' | '.join(means)} |"


def controls() -> Iterator[tuple[str, str]]:
    found = result("differences", EVAL_RESULTS)
    for metric in ("answer_f1", "rougeLsum", "gold_used"):
        yield "docs/science.md", interval(found["controls"]["other-plan"][metric])
    small = found["small-model"]
    for row in small["controls"].values():
        yield "docs/science.md", f"| {row['n']} | {interval(row['token_f1'])} | {interval(row['cut'])} |"
    for row in (row for systems in small["suites"].values() for row in systems.values()):
        tokens = f"{row['in']:,} + {row['out']:,}"
        yield "eval/README.md", f"| {row['n']} | {row['calls']} | {tokens} | {row['cut']} | {row['stayed']} |"
    for row in (row for metrics in small["written - standard"].values() for row in metrics.values()):
        yield "eval/README.md", interval(row["difference"])
    side, better = small["side by side"], small["side by side"]["better"]
    judged = f"better in {better['standard']}, the default in {better['written']}, neither in {better['neither']}"
    yield "docs/science.md", f"{judged}; token F1 {interval(side['token_f1'])}"
    trees = small["paper"]["trees"]
    valid = trees["valid"] + trees["valid after repair"]
    yield "docs/papers.md", f"a valid tree for {valid} of {trees['chunks']} chunks"


def tune() -> Iterator[tuple[str, str]]:
    found = result("differences", EVAL_RESULTS)["tune"]
    for suite, which in product(("qasper", "fairytaleqa"), ("promised", "came")):
        yield "docs/tune.md", interval(found[suite][which])


def bills() -> Iterator[tuple[str, str]]:
    for suite, bill in result("bills", EVAL_RESULTS)["bills"].items():
        n = bill["counted"]["written"]["questions"]
        shown = ("written", "written-standard", "standard", "full-context")
        cells = (_bill(bill["counted"][name]) if name in bill["counted"] else "–" for name in shown)
        yield "eval/README.md", f"| {suite} | {n} | {' | '.join(cells)} | "
        for row in bill["official"]:
            tokens = f"{row['tokens_in'] / 1e6:,.1f} M + {row['tokens_out'] / 1e6:,.2f} M"
            yield "eval/README.md", f" | {row['questions']:,} | {tokens} |"


def _bill(row: dict[str, int]) -> str:
    """``6,489 + 900``: tokens read and written for a question."""
    return " + ".join(f"{row[name] / row['questions']:,.0f}" for name in ("tokens_in", "tokens_out"))


def table8() -> Iterator[tuple[str, str]]:
    found = result("table8", EVAL_RESULTS)["figures"]
    ten = found["10"]
    yield "docs/papers.md", f"{ten['paper']:,} tokens in and out at k = 10, {ten['ratio']} times"
    yield "docs/papers.md", f"standard RAG's {ten['standard']:,}"
    yield (
        "docs/papers.md",
        f"{found['20']['ratio']} times at k = 20, {found['30']['ratio']} at 30, {found['50']['ratio']} at",
    )
    (graph, pairs), plan, answer = ten["paper in and out"].values()
    yield "docs/papers.md", f"the graph takes {graph:,} in and {pairs:,} out"
    yield "docs/papers.md", f"the plan {plan[0]:,} and {plan[1]}, the answer {answer[0]:,} and {answer[1]}"
    read = [row["ratio read"] for row in found.values()]
    yield "docs/papers.md", f"The prompts alone are {min(read)} to {max(read)} times standard RAG's"
    yield "docs/measure.md", f"reads {ten['ratio read']} times as much"


def archive() -> Iterator[tuple[str, str]]:
    found, science = result("archive"), "docs/science.md"
    earlier = found["small-model"]["figures"]
    for name in ("planned - standard", "planned - shuffled"):
        yield science, signed(earlier[name]["both"])
    written = found["written"]["figures"]
    for name in ("standard", "written", "verbatim"):
        both, not_supported = ("{} [{}, {}]".format(*written[name][key]) for key in ("both", "not_supported"))
        yield science, f"| {both} | {not_supported} | {written[name]['sentences']} | {written[name]['tokens']} |"
    for name in ("written - standard", "written - verbatim", "where the model's answer stayed"):
        for key in ("both", "not_supported"):
            yield science, signed(written[name][key])
    for difference in found["follow"]["figures"].values():
        yield science, signed(difference)
    tokens = found["tokens"]["figures"]
    yield "docs/measure.md", f"cost {tokens['sentence trees']} times"
    yield "docs/measure.md", f"{tokens['EDU trees']} times with EDU trees"
    tree, cues = (found["qualifiers"]["figures"][name] for name in ("tree", "cues"))
    yield "docs/answers.md", f"F1 {tree['f1'][0]}, precision {tree['precision']}"
    yield "docs/answers.md", f"({cues['f1'][0]}, {cues['precision']};"
    wide, bare = found["answers-width"]["figures"], found["answers-bare"]["figures"]
    for gain in (words[part]["f1_gain"] for words in wide.values() for part in ("all", "fairytaleqa")):
        yield "docs/answers.md", "{:+.3f} [{:+.3f}, {:+.3f}]".format(*gain)
    yield "docs/answers.md", f"on {wide['800 words']['all']['n']} development questions"
    before, after = (f"{share:.0%}".replace("%", " %") for share in bare["all"]["not_gold"])
    yield "docs/answers.md", f"{after} of the sentences are not gold instead of {before}"
    for name in ("all", "hotpotqa", "clapnq"):
        yield "docs/answers.md", "{:+.3f} [{:+.3f}, {:+.3f}]".format(*bare[name]["f1_gain"])
    absent = {name: f"{share:.0%}".replace("%", " %") for name, (_, share) in found["absent-words"]["figures"].items()}
    yield "docs/answers.md", f"{absent['attributes kept apart']} of the questions about absent attributes"
    yield "docs/answers.md", f"{absent['twins kept apart']} of their twins"
    yield "docs/answers.md", f"{absent['wikicontradict']} of WikiContradict's questions"
    yield "docs/answers.md", f"{absent['clapnq answerable']} of CLAPNQ's answerable ones"
    nli, page = found["nli"]["figures"], "docs/verification.md"
    for row in nli["sets"].values():
        cells = ("{:.3f} [{:.3f}, {:.3f}]".format(*row[name]) for name in ("seed 0", "seed 1", "words", "cosine"))
        yield page, f"| {row['n']} | {' | '.join(cells)} |"
    seeds = nli["verdicts"].values()
    for kind in ("forged", "true", "paraphrase", "edited"):
        counts = (", ".join(str(s[kind][c]) for s in seeds) for c in ("supported", "not_supported", "not_verified"))
        yield page, f"| {' | '.join(counts)} |"
    connections = found["trust"]["figures"]["connections"]
    yield "docs/reliability.md", f"{connections['count']:,} half-open connections"
    yield "docs/reliability.md", f"(the slowest took {connections['slowest_s']} s)"
    scattered = found["scattered"]["figures"]
    yield (
        "docs/retrievers.md",
        f"{scattered['sentences']} % of the documents with evidence, `snapped` {scattered['snapped']}",
    )


def evidence() -> Iterator[tuple[str, str]]:
    f, page = result("evidence")["figures"], "docs/retrieval.md"
    sets = ("hotpotqa", "musique", "asqa", "ramdocs", "wikicontradict", "fairytaleqa", "qmsum", "summhay")
    yield page, f"asks {sum(f['n'].values())} English questions"
    for k, row in f["fixed"].items():
        cells = (str(row[name]) for name in ("hybrid", "reranked", *sets))
        yield page, f"| {k} | {row['tokens']:,} | {' | '.join(cells)} |"
    yield page, f"{interval([*f['fixed']['20']['gain'].values()])} in the best 20"
    yield page, f"{interval([*f['fixed']['10']['gain'].values()])} in the best ten"
    for mean, row in f["rules"].items():
        cells = (interval([*row[name]["less_fixed"].values()]) for name in ("absolute", "gap", "either", "mass"))
        yield page, f"| {mean} | {' | '.join(cells)} |"
    tokens = [f["rules"]["20"][name]["tokens"] for name in ("gap", "fixed")]
    yield page, "reads {:,} tokens for {:,}".format(*tokens)
    for needed in ("needs_2", "needs_4"):
        yield page, "{} [{}, {}]".format(*f["wide"][needed]["within_6"].values())


def cells(rows: list[list[float]], between: str = " | ") -> str:
    return between.join("{:+.2f} [{:+.2f}, {:+.2f}]".format(*row) for row in rows)


def at_its_width(page: str) -> Iterator[tuple[str, str]]:
    f = result("archive")["capable-width"]["figures"]
    trees, corrected = f["sentence trees"], f["corrected"]
    for rows in (f["default - rules"], trees["default - sentence trees"]):
        yield page, cells(rows, " and ")
    yield page, f"agree on {f['agreement of the judges, of 36']} of 36"
    tokens = f["tokens of the default by those of rules"]
    yield page, "reads {read} times and writes {written} times".format(**tokens)
    for counts in (
        f["wins, ties and losses against the rules"],
        trees["wins, ties and losses against sentence trees"],
    ):
        for kind, row in counts.items():
            yield page, f"| {kind} | {' | '.join('{}, {}, {}'.format(*judge) for judge in row)} |"
    for system, row in f["told"].items():
        yield page, f"| {system} | {' | '.join(map(str, row))} |"
    yield page, "{problems} problems in {with a problem} of {answers} answers".format(**corrected)


def chinese() -> Iterator[tuple[str, str]]:
    f, page = result("chinese")["figures"]["cmrc2018"], "docs/retrieval.md"
    yield page, f"on {f['n']} questions of CMRC 2018 over {f['documents']:,} passages"
    twenty, ten = f["20"], f["10"]
    yield page, f"{twenty['hybrid']} % of the evidence as searched and {twenty['reranked']} % reranked"
    yield (
        page,
        f"{interval([*twenty['gain'].values()])} in the best 20, {interval([*ten['gain'].values()])} in the best ten",
    )


def capable() -> Iterator[tuple[str, str]]:
    f, page = result("archive")["capable"]["figures"], "docs/science.md"

    for name in ("statements - before", "rules - before"):
        yield page, f"| {cells(f[name])} |"
    for wording, rows in f["statements - rules"].items():
        yield page, f"| {wording} | {cells(rows)} | {f['agreement of the judges, of 40'][wording]} |"
    for counts in (f["wins, ties and losses against the rules"], f["fifty passages"]["wins, ties and losses"]):
        for kind, row in counts.items():
            yield page, f"| {kind} | {' | '.join('{}, {}, {}'.format(*judge) for judge in row)} |"
    for wording, systems in f["told"].items():
        for system, row in systems.items():
            yield page, f"| {wording} | {system} | {' | '.join(map(str, row))} |"
    yield page, "{found} of {given} quotations".format(**f["quotations"])
    for name, rows in f["two calls"]["figures"].items():
        yield page, f"| {name} | {cells(rows)} |"
    yield (
        page,
        "{:+.2f} [{:+.2f}, {:+.2f}] and {:+.2f} [{:+.2f}, {:+.2f}] over fifty passages".format(
            *chain.from_iterable(f["fifty passages"]["statements - rules"])
        ),
    )
    printed = result("archive")["capable-paper"]["figures"]
    for name, rows in printed["differences"].items():
        yield page, f"| {name} | {cells(rows)} |"
    yield page, "have {today's} characters (before {before}, standard {standard})".format(**printed["characters"])
    yield from at_its_width(page)
    tokens = f["tokens of statements by those of rules"]
    yield "docs/measure.md", f"read {tokens['read']} times as much"
    yield "docs/measure.md", f"wrote {tokens['written']} times"


CONTROLLED = ("trees - random-trees", "trees - filler", "graph - permuted-graph", "plan - other-plan")


def reader() -> Iterator[tuple[str, str]]:
    f, page = result("archive")["reader"]["figures"], "docs/science.md"
    trained = f["trained"]
    for name, found in f["untrained"]["all"]["mrr"].items():
        cells = ("{} [{}, {}]".format(*row) for row in (found, trained["all"]["mrr"][name]))
        yield page, f"| {name} | {' | '.join(cells)} |"
    for suite, row in trained.items():
        cells = (interval(row["differences"][pair]) for pair in CONTROLLED)
        yield page, f"| {suite} | {row['n']} | {' | '.join(cells)} |"
    for name in ("sentence", "plan"):
        yield page, interval(f["trained - untrained"][name])
    yield page, f"{trained['all']['n']} questions of FairytaleQA"


def worth() -> Iterator[tuple[str, str]]:
    f, page = result("archive")["capable-worth"]["figures"], "docs/science.md"
    for name, row in f["compared"].items():
        yield page, f"| {name} | {cells(row['net'])} | {row['p'][0]}, {row['p'][1]} | {row['agree']} |"
        yield page, cells(row["net"], " and ")
    for name, kinds in f["wins, ties and losses"].items():
        yield page, f"| {name} | first judge | second judge |"
        for kind, row in kinds.items():
            yield page, f"| {kind} | {' | '.join('{}, {}, {}'.format(*judge) for judge in row)} |"
    for name, rows in chain(f["on ramdocs"].items(), f["explored"].items()):
        yield page, f"| {name} | {cells(rows)} |"
    yield page, cells(f["with the 40 questions before"], " and ")
    yield page, cells(f["on ramdocs"]["two calls - permuted relations"], " and ")
    for system, told in f["told"].items():
        yield page, f"| {system} | {' | '.join(map(str, told))} |"
    yield page, "{found} of {given} quotations".format(**f["quotations"])
    yield page, "{read} times the tokens read and {written} times".format(**f["tokens of statements by those of rules"])


def capable_trees() -> Iterator[tuple[str, str]]:
    f, page = result("archive")["capable-trees"], "docs/science.md"
    for name, row in f["figures"]["scores"].items():
        yield page, f"| {name} | {' | '.join(map(str, row.values()))} |"
    gained = f["figures"]["differences"]["capable - fast"]
    yield page, f"| capable - fast | {' | '.join(map(interval, gained.values()))} |"
    yield page, f"nuclearity {interval(gained['nuclearity'])}; units worse, {interval(gained['seg'])}"
    yield (
        page,
        "{chunks} chunks of about 100 words (whole sentences, raw text) of the {documents} documents".format(**f),
    )


def reranker() -> Iterator[tuple[str, str]]:
    f, page = result("reranker")["figures"], "docs/models.md"
    for name in ("clapnq", "hotpotqa", "squad2", "covidqa", "tatqa", "pooled"):
        n, first, gain = f[name]["n"], f[name]["first"], f[name]["first_gain"]["1000"]
        values = " | ".join(str(first[model]["value"]) for model in ("packaged", "0", "1000"))
        yield page, f"| {name} | {n} | {values} | {gain['value']:+.1f} [{gain['low']:+.1f}, {gain['high']:+.1f}] |"


SHOWN = [
    *(speed, peers, parser, verify, conflicts, recall, precision, answers),
    *(
        trust,
        retrieval,
        evidence,
        chinese,
        archive,
        differences,
        expected,
        controls,
        tune,
        bills,
        table8,
        reader,
        capable,
        worth,
        capable_trees,
        reranker,
    ),
]


@pytest.mark.parametrize("figures", SHOWN, ids=lambda f: f.__name__)
def test_pages_show_the_figures_of_their_result_file(figures: Any) -> None:
    pages: dict[str, str] = {}
    for page, shown in figures():
        text = pages.setdefault(page, re.sub(r"\s+", " ", Path(page).read_text("utf-8")))
        assert shown in text, f"{page} does not show {shown!r}"


@pytest.mark.parametrize("file", sorted([*RESULTS.iterdir(), *EVAL_RESULTS.iterdir()]), ids=lambda f: f.name)
def test_a_result_file_is_a_summary_that_names_its_commit(file: Path) -> None:
    assert file.suffix == ".json"
    assert file.stat().st_size <= MOST_BYTES
    found = json.loads(file.read_text("utf-8"))
    if file.name == "archive.json":
        assert all("commit" in row and "command" in row for row in found.values())
    elif file.name in ("trust.json", "scale.json"):  # experiments, measured one by one
        assert all("commit" in row for row in found.values())
    else:
        assert "commit" in found
