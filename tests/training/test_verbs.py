"""Finite verbs are read from CoNLL-U and learned."""

from pathlib import Path

from training.verbs import best, sentences, trained

CONLLU = """# s_type = decl
1\tMills\tmill\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\tVerbForm=Fin\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tstop\tstop\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_

# s_type = frag
1\tMills\tmill\tNOUN\tNNS\tNumber=Plur\t0\troot\t_\t_

"""


def test_a_verb_and_its_clitic_are_one_word_as_the_model_parts_them(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU, "utf-8")
    assert list(sentences([tmp_path / "a.conllu"])) == [
        ("decl", [("Mills", False), ("don't", True), ("stop", False)]),
        ("frag", [("Mills", False)]),
    ]


def test_what_makes_a_verb_is_learned() -> None:
    whole, label = [("mills", False), ("turned", True)], [("old", False), ("mills", False)]
    weights = trained([whole, label] * 20)
    assert best(weights, whole) > 0 > best(weights, label)
