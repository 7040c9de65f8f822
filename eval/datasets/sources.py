"""Where each set of questions is published, under which licence, and where its files belong in the data folder."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Source:
    """A published set of questions.

    Args:
        name: As on the command line.
        path: File or folder below the data folder.
        published: Where it is published, and the files there that are read.
        licence: Licence of the questions, and of documents where it is another one.
        size: Questions, and bytes where they are known.
        layout: What belongs at ``path``.
        unseen: What is known of the layout from documentation only; empty: the loader has read official files.
    """

    name: str
    path: str
    published: str
    licence: str
    size: str
    layout: str
    unseen: str = ""


_WIKIPEDIA = "Wikipedia text CC BY-SA"
SOURCES: Mapping[str, Source] = {
    "loong": Source(
        name="loong",
        path="loong",
        published="github.com/MozerWang/Loong (data/loong.jsonl); its documents: "
        "alibaba-research.oss-cn-beijing.aliyuncs.com/loong/doc.zip",
        licence="Apache-2.0 (questions); filings, papers and judgments: their own, not stated",
        size="1,600 questions; doc.zip about 114 MB",
        layout="loong.jsonl, doc/financial/*.txt, doc/paper/*.md, doc/legal/legal.json",
        unseen="legal.json (500 questions): its form is that of the official code; without it they are left out",
    ),
    "asqa-pooled": Source(
        name="asqa",
        path="asqa/asqa_eval_pooled.json",
        published="huggingface.co/datasets/princeton-nlp/ALCE-data (ALCE-data.tar: asqa_eval_gtr_top100.json)",
        licence=f"Apache-2.0 (ASQA), MIT (ALCE); {_WIKIPEDIA}",
        size="948 questions with 100 passages each",
        layout="one file: a list of {sample_id, question, qa_pairs, annotations, docs: [{id, title, text}]}",
        unseen="the passages' field id in ALCE's files: passages without one are named by their text",
    ),
    "scinews": Source(
        name="scinews",
        path="scinews/test.json",
        published="huggingface.co/datasets/dongqi-me/SciNews (test.json)",
        licence="CC BY 4.0",
        size="4,188 questions; 206 MB",
        layout="one file: a list of {DOI, Citation, Paper_Body, News_Body, Topic}",
        unseen="the whole file: its fields are those that its dataset card and users of it name",
    ),
    "asqa-pages": Source(
        name="asqa-pages",
        path="asqa/pages",
        published="en.wikipedia.org: the pages that asqa_eval_pooled.json names, saved as HTML",
        licence=_WIKIPEDIA,
        size="948 questions",
        layout="*.html, next to asqa_eval_pooled.json",
    ),
    "eli5": Source(
        name="eli5",
        path="eli5/eli5_eval_bm25_top100.json",
        published="huggingface.co/datasets/princeton-nlp/ALCE-data (ALCE-data.tar)",
        licence="MIT (ALCE); posts and web pages: not stated",
        size="1,000 questions",
        layout="the file as published",
        unseen="the file with passages",
    ),
    "qampari": Source(
        name="qampari",
        path="qampari/qampari_eval_gtr_top100.json",
        published="huggingface.co/datasets/princeton-nlp/ALCE-data (ALCE-data.tar)",
        licence=f"MIT (ALCE); {_WIKIPEDIA}",
        size="1,000 questions",
        layout="the file as published",
        unseen="the file with passages",
    ),
    "fairytaleqa": Source(
        name="fairytaleqa",
        path="fairytaleqa",
        published="github.com/uci-soe/FairytaleQAData (data-by-train-split)",
        licence="Apache-2.0",
        size="1,007 test questions",
        layout="questions/{val,test}/*.csv, section-stories/{val,test}/*.csv",
    ),
    "hotpotqa": Source(
        name="hotpotqa",
        path="hotpotqa/hotpot_dev_distractor_sample100.json",
        published="hotpotqa.github.io (distractor, development)",
        licence="CC BY-SA 4.0",
        size="7,405 questions",
        layout="the file as published, under this name",
    ),
    "lay-summaries": Source(
        name="lay-summaries",
        path="lay_summaries/test.json",
        published="github.com/TGoldsack1/Corpora_for_Lay_Summarisation; articles of PLOS and eLife",
        licence="CC BY 3.0 or 4.0, CC0",
        size="29 articles here",
        layout="one file: a list of {id, title, sections, headings, abstract, summary}",
    ),
    "musique": Source(
        name="musique",
        path="musique/musique_ans_train_sample100.jsonl",
        published="github.com/StonyBrookNLP/musique (musique_ans)",
        licence="CC BY 4.0",
        size="2,417 questions",
        layout="the JSON lines as published, under this name",
    ),
    "narrativeqa": Source(
        name="narrativeqa",
        path="narrativeqa/narrativeqa.jsonl",
        published="github.com/google-deepmind/narrativeqa",
        licence="Apache-2.0; film scripts: their own",
        size="10,557 questions",
        layout="JSON lines of LongBench's form: {input, context, answers, _id}",
    ),
    "nq-open-oracle": Source(
        name="nq-open-oracle",
        path="nq_open_oracle/nq-open-oracle.jsonl",
        published="github.com/nelson-liu/lost-in-the-middle (qa_data/nq-open-oracle.jsonl.gz)",
        licence="MIT; Natural Questions CC BY-SA 3.0",
        size="2,655 questions",
        layout="the JSON lines, unpacked",
    ),
    "qasper": Source(
        name="qasper",
        path="qasper/qasper-sample-v0.3.json",
        published="allenai.org/data/qasper (test, v0.3)",
        licence="CC BY 4.0",
        size="1,451 questions",
        layout="the file as published, under this name",
    ),
    "qmsum": Source(
        name="qmsum",
        path="qmsum/test.jsonl",
        published="github.com/Yale-LILY/QMSum (data/ALL/jsonl/test.jsonl)",
        licence="MIT; AMI and ICSI CC BY 4.0",
        size="281 questions",
        layout="the JSON lines as published",
    ),
    "quality": Source(
        name="quality",
        path="quality/QuALITY.part.htmlstripped.dev",
        published="github.com/nyu-mll/quality (v1.0.1, development, htmlstripped)",
        licence="CC BY 4.0 as far as known",
        size="2,086 questions",
        layout="the JSON lines as published, under this name",
    ),
    "ramdocs": Source(
        name="ramdocs",
        path="contradiction/ramdocs/RAMDocs_test.jsonl",
        published="github.com/HanNight/RAMDocs (RAMDocs_test.jsonl)",
        licence=f"MIT; {_WIKIPEDIA}",
        size="500 questions",
        layout="the JSON lines as published",
    ),
    "summhay": Source(
        name="summhay",
        path="summhay",
        published="github.com/salesforce/summary-of-a-haystack (data/topic_*.json)",
        licence="Apache-2.0; documents written by a language model from news",
        size="10 topics of 100 documents, 92 questions",
        layout="topic_*.json, with or without the summaries of models",
        unseen="today's release: the loader has read that of June 2024 (topic_news1.json and so on)",
    ),
    "conditionalqa": Source(
        name="conditionalqa",
        path="conditionalqa",
        published="github.com/haitian-sun/ConditionalQA (v1_0/dev.json), with its pages (documents.json)",
        licence="not stated, for research only; pages of gov.uk: Open Government Licence v3.0",
        size="285 questions; documents.json 6 MB",
        layout="dev.json, documents.json",
    ),
    "triviaqa": Source(
        name="triviaqa",
        path="triviaqa/retrieved_pooled.jsonl",
        published="nlp.cs.washington.edu/triviaqa, with passages of your own",
        licence=f"questions not stated; {_WIKIPEDIA}",
        size="11,313 questions",
        layout="JSON lines of {id, question, golden_answers, docs: [{id, title, text}]}",
    ),
    "wikicontradict": Source(
        name="wikicontradict",
        path="contradiction/wikicontradict/wiki_contradict_refined.jsonl",
        published="github.com/IBM/FactReasoner (wiki_contradict_refined.jsonl)",
        licence=f"Apache-2.0 (repository); {_WIKIPEDIA}",
        size="253 questions; those over two passages are asked",
        layout="the JSON lines as published",
    ),
}
"""Loader (`eval.datasets.registry.LOADERS`) -> where its data comes from."""
