"""The details of a sentence that are looked up in its sources: values are compared, not strings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.verification.guards import missing_details

TRIAL = (
    "Trial of tamoril\nFrom 3 October 2021 the Harlow trial gave 412 adults in Norway tamoril. Influenza fell by 12 "
    'percent. "Nobody was harmed", said Dr. Lena Weiss of the World Health Organization. It cost $1,500,000.'
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The incidence fell by 12 % after the trial of October 2021.",
        "In the Harlow trial, Weiss's patients were four hundred and twelve adults.",
        "It cost the city 1.5 million dollars, that is, over 1.4 million.",
        'By her account "nobody was harmed."',
        "The WHO praised the Norwegian trial.",
        "The trial lasted for one of two winters.",
        "Tamoril is safe for people.",
        "I think that the Trial was good, as Mr Weiss said.",
        "Die Studie fand im Herbst in Bergen statt.",
        "412名成人与12名儿童,共424人。",
    ],
)
def test_what_the_evidence_has_in_other_forms_is_found(sentence: str) -> None:
    assert missing_details(sentence, [TRIAL]) == []


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("The incidence fell by 21 %.", "the number 21 %"),
        ("The trial began on 3 November 2021.", "the date 3 November 2021"),
        ("The trial began on 5 October 2021.", "the date 5 October 2021"),
        ("The trial was made in 2022.", "the number 2022"),
        ("The trial was led by Anna Weiss.", "the name Anna"),
        ("The NATO is behind the trial.", "the name NATO"),
        ('Weiss said that "many were harmed" by it.', 'the words "many were harmed"'),
        ("412名成人,21例。", "the number 21"),
        ("412名成人使用1.2.3版。", "the number 1.2.3"),
    ],
)
def test_what_the_evidence_lacks_is_named(sentence: str, missing: str) -> None:
    assert [str(detail) for detail in missing_details(sentence, [TRIAL])] == [missing]


def missing(sentence: str, *sources: str, question: str = "") -> list[str]:
    return [str(detail) for detail in missing_details(sentence, sources, question=question, passages=sources)]


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("It goes from 0 to 60 mph.", "It does 0-60 mph."),
        ("The war lasted from 1920 to 1924.", "The war (1920-24) was short."),
        ("They were built in the 1830s and the 1840s.", "One was built in 1834, the other in 1847."),
        ("It stems from the 19th century.", "It was built in 1834."),
        (
            "It burned from Sunday, 2 September to Thursday, 6 September 1666.",
            "2\u20136 September 1666, Sunday to Thursday",
        ),
        ("She was born on 3 September 1717.", "She was born on September 3rd, 1717."),
        ("He was born in 1750, on 3 July by one account.", "Born 3 July 1750"),
        ("It was signed in March 2024.", "Signed: 2024-03-09"),
        ("It was signed on 9 March 2024.", "Signed: 09.03.2024"),
        ("All of it was conquered by December 1516.", "On 28 October 1516 it fell, and all by December of that year."),
        ("It opened in June.", "It opened on 3 June 2021."),
        ("It sold three hundred thousand copies.", "It sold 300,000 copies."),
        ("Half a million people came.", "500,000 people came."),
        ("It takes about seven minutes.", "It takes 7 minutes."),
        ("The engine needs at least 65% ethanol.", "with 65 percent ethanol"),
        ("It ran the mile in under 9 seconds.", "It ran the mile in 8.91 seconds."),
        ("Of 3,300 cars 3,000 stay and 300 leave.", "3,000 cars stay, and 300 leave."),
        ("The rule of 39 years lasted from 1834 to 1873.", "He ruled from 1834 to 1873."),
        ("The U.S. board approved it.", "The United States board approved it."),
        ("The National Hot Rod Association forbids it.", "The NHRA forbids it."),
        ("It has an LCD display.", "an L_C_D_ display"),
        ("Halsted Ritter was a judge.", "Judge Halsted Lockwood Ritter"),
        ("Judge H. L. Ritter spoke.", "Judge Halsted Lockwood Ritter"),
        ("The Hellcats of Dodge's line are fast.", "The Hellcat by Dodge is fast."),
        ("The Caf\u00e9 Zo\u00eb is old.", "The Cafe Zoe is old."),
        ("The Detroit-based firm grew.", "A firm in Detroit grew."),
        ('They "saw [the] light \u2026 and left".', "They saw light, turned, and left."),
        ("The date of episode 119 is not given.", "The series ended."),
        ("None of the passages names the 1964 film by Rao, but it was made in 1966.", "It was made in 1966."),
        ("Two of the three films are lost.", "These films are lost."),
        ("It dropped from a hundred to eighty-six percent.", "It was at 100 percent and fell to eighty - six ."),
        ("They bought four thirty-six gigabyte disks.", "four thirty - six gigabyte disks"),
        ("They bought four 36 GB disks.", "four thirty-six gigabyte disks"),
        ("He played in the 1954\u201355 series.", "It aired from October 15, 1954 to July 15, 1955."),
        ("The season 1999-00 was long.", "It lasted from 1999 to 2000."),
        ("They won in 2017.", "They won the finals from 2015\u20132018 but for one."),
        ("Ms M\u00e9lanie Joly came from Portneuf\u2013Cartier.", "Mlanie Joly, PortneufCartier"),
        ("The member for Portneuf-Cartier spoke.", "The member for Portneuf\u2014Cartier spoke."),
        ("The French and the Welsh law differ.", "the law of France and Wales"),
        ("The board heard Professor Weiss.", "The board heard Weiss."),
    ],
)
def test_a_value_is_found_in_any_form(sentence: str, source: str) -> None:
    assert missing(sentence, source) == []


@pytest.mark.parametrize(
    ("sentence", "source", "lacks"),
    [
        ("It goes from 0-50 mph.", "It does 0-60 mph.", "the number 50"),
        ("It was built in the 1850s.", "It was built in 1834.", "the number 1850s"),
        ("It was built in 1837.", "It was built in the 1830s.", "the number 1837"),
        ("It was signed on 9 May 2024.", "Signed: 09.03.2024", "the date 9 May 2024"),
        ("It opened in July.", "It opened on 3 June 2021.", "the date July"),
        ("It fell by 12 kg.", "It fell by 12 percent.", "the number 12 kg"),
        ("It ran the mile in under 7 seconds.", "It ran the mile in 8.91 seconds.", "the number 7 seconds"),
        ("It takes over an hour, 90 minutes.", "It takes 9 minutes.", "the number 90 minutes"),
        ("Of 3,400 cars 3,000 stay and 300 leave.", "3,000 cars stay, and 300 leave.", "the number 3,400"),
        ("It met the 17th parliament.", "It met the 16th parliament.", "the number 17"),
        ("Judge B. N. Rao wrote it.", "Judge B. N. Reddi wrote it.", "the name Rao"),
        ("Judge Halsted K. Ritter spoke.", "Judge Halsted Lockwood Ritter", "the name K"),
        ("It was built (by Irwin) of stone.", "It was built of stone.", "the name Irwin"),
        ("It dropped to eighty-six percent.", "It fell to eighty - five percent.", "the number 86 percent"),
        (
            "He played in the 1954\u201355 series.",
            "It aired on channel 55 in 1954, 1956 and 1959.",
            "the number 55",
        ),
        ("He painted in 1930.", "He lived from 1893 to 1970.", "the number 1930"),
        ("The board heard M\u00e9lanie.", "The board heard Milanie.", "the name Melanie"),
        ("The board heard Portneuf\u2013Cartier.", "The board heard Portneuf.", "the name Portneuf\u2013Cartier"),
        ("The series ended in 1999; the date of episode 119 is not given.", "It ended.", "the number 1999"),
    ],
)
def test_a_wrong_value_is_named(sentence: str, source: str, lacks: str) -> None:
    assert missing(sentence, source) == [lacks]


def test_a_name_at_the_beginning_is_looked_up_if_a_passage_has_it_as_one() -> None:
    passages = ["The house by Irwin is old.", "The house by Wilburn is new."]
    assert [str(d) for d in missing_details("Wilburn built the old one.", passages[:1], passages=passages)] == [
        "the name Wilburn"
    ]
    assert missing_details("Houses are old.", passages[:1], passages=passages) == []


@pytest.mark.parametrize(
    "clause",
    [
        "没有列出7家公司的存货金额",
        "7家公司的存货无法确定",
        "无法得出7家公司的数量",
        "文中未提及7家公司",
        "没有任何一段给出7家公司的金额",
    ],
)
def test_a_chinese_clause_that_says_what_is_missing_claims_nothing(clause: str) -> None:
    assert missing(f"报告有3页，{clause}。", "报告有3页") == []
    assert missing(f"报告有4页，{clause}。", "报告有3页") == ["the number 4"]


def test_values_of_the_question_need_no_source() -> None:
    assert missing("存货在1,000,000,000元以上的公司有2家。", "共有2家", question="存货在 1,000,000,000 元以上？") == []
    assert missing("2023年的公司有2家。", "共有2家", question="2023年有几家？") == ["the number 2023"]
    question = "Which firms earn more than $3 million or lose over 12 percent?"
    assert missing("Five firms earn more than 3 million dollars, and three lose 12%.", "x", question=question) == []
    assert missing("Five firms earn more than $4 million.", "x", question=question) == ["the number $4 million"]


def test_names_and_numbers_of_the_question_need_no_source_but_its_years_do() -> None:
    sentence = "Episode 119 of Ultra Saga came out in 2018."
    assert missing(sentence, "It ended.", question="When did episode 119 of Ultra Saga come out?") == [
        "the number 2018"
    ]
    assert missing(sentence, "It ended.", question="Did Ultra Saga 119 end in 2018?") == ["the number 2018"]


@given(st.text(max_size=80))
def test_no_text_lacks_a_detail_of_its_own(text: str) -> None:
    assert missing_details(text, [text]) == []
