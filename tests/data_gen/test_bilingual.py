"""Bilingual facts: labels are right by construction, and no style predicts them."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from data_gen import bilingual as bilingual_module
from data_gen.bilingual import Fact, Name, bilingual, facts, sentences, wrong_name
from data_gen.candidates import Candidate, labels_agree, rng_for
from gradegpt.core.errors import InputError
from gradegpt.core.schema import Verdict

CAPITAL = next(f for f in facts() if f.subject[0] == "Australia" and f.kind == "capital")
PARTS = next(f for f in facts() if f.kind == "parts" and not f.held_out)


@cache
def some(verdict: Verdict) -> list[Candidate]:
    """Responses to every seventeenth fact, which the tests share."""
    ids = [(fact, f"{fact.subject[0]}:{i}") for fact in facts()[::17] for i in range(3)]
    made = (bilingual(fact, verdict, id_, rng_for(id_, 0)) for fact, id_ in ids)
    return [candidate for candidate in made if candidate is not None]


def names(fact: Fact) -> set[str]:
    """All forms of the answer of a fact."""
    return {form.casefold() for form in (*fact.answer.en, *fact.answer.zh)}


def test_the_tables_are_read_and_name_their_source() -> None:
    """There are hundreds of facts of a dozen kinds, and each table begins with its source."""
    assert len(facts()) > 1000
    for path in bilingual_module.TABLES.glob("*.tsv"):
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        assert first.startswith("# ")
        assert "licence" in first or "Unicode" in first


def test_a_hard_negative_is_no_form_of_the_answer() -> None:
    """No English or Chinese form of a hard negative is a form of the answer."""
    for fact in facts():
        missed = {form.casefold() for near in fact.near for form in (*near.en, *near.zh)}
        assert not missed & names(fact), fact


def test_no_answer_is_both_in_training_and_held_out() -> None:
    """Facts are held out by the name of their answer, for any question."""
    sides = defaultdict(set)
    for fact in facts():
        sides[fact.group].add(fact.held_out)
    assert all(len(held) == 1 for held in sides.values())
    assert 0.1 < sum(fact.held_out for fact in facts()) / len(facts()) < 0.3


def test_a_gloss_has_the_english_of_the_very_form_that_was_written() -> None:
    """Forms pair where they are as many; else the first ones do, and another has no English."""
    paired, other = Name(("Lima", "Limac"), ("利马", "里马")), Name(("Edo",), ("江户", "东京"))
    assert [paired.english_of(form) for form in paired.zh] == ["Lima", "Limac"]
    assert [other.english_of(form) for form in other.zh] == ["Edo", None]


def test_most_responses_are_in_the_other_language() -> None:
    """Most responses are not in the language of the reference, equally in both directions."""
    made = some(Verdict.CORRECT) + some(Verdict.INCORRECT)
    ways = Counter((c.lang, c.response_lang) for c in made)
    assert min(ways["en", "zh"], ways["zh", "en"]) > 0.35 * len(made)


def test_what_is_right_in_one_row_is_wrong_in_another() -> None:
    """No pattern and no name predicts the verdict, except that an undecided answer is wrong."""
    right, wrong = (some(v) for v in (Verdict.CORRECT, Verdict.INCORRECT))
    patterns = [{c.pattern.rpartition("_")[2] for c in side} for side in (right, wrong)]
    assert patterns[1] - patterns[0] <= {"undecided"}
    assert patterns[0] <= patterns[1]


def test_names_are_right_in_some_rows_and_wrong_in_others() -> None:
    """Most names that are wrong answers are also right answers of the same kind."""
    capitals = [f for f in facts() if f.kind == "capital" and not f.held_out]
    right = {form for fact in capitals for form in names(fact)}
    drawn = [wrong_name(fact, rng_for(fact.id, 0)) for fact in capitals]
    wrong = {form.casefold() for name in drawn if name for form in (*name.en, *name.zh)}
    assert len(wrong & right) > 0.5 * len(wrong)


def test_the_rules_dispute_hardly_any_label() -> None:
    """Where the rules decide, as for lists, they agree with the label by construction."""
    made = some(Verdict.CORRECT) + some(Verdict.INCORRECT) + some(Verdict.INVALID)
    disputed = [c for c in made if labels_agree(c.labels) is False]
    assert len(disputed) <= 0.01 * len(made), disputed


def test_a_rejected_answer_may_be_named_and_the_sentence_decides() -> None:
    """The sentence "Canberra, not Sydney" is right and "Sydney, not Canberra" wrong."""
    rivals = {
        verdict: [
            c
            for i in range(30)
            if (c := bilingual(CAPITAL, verdict, f"{i}", rng_for(f"{i}", 0)))
            and c.pattern == "capital_rival"
        ]
        for verdict in (Verdict.CORRECT, Verdict.INCORRECT)
    }
    for verdict, made in rivals.items():
        assert made
        for candidate in made:
            given = candidate.chain.answer if candidate.chain else None
            wanted = {form.casefold() for form in candidate.item.reference}
            if candidate.lang == candidate.response_lang:
                assert ((given or "").casefold() in wanted) is (verdict is Verdict.CORRECT)


def test_a_wrong_list_of_parts_is_another_set() -> None:
    """It has one part missing, replaced by a foreign one, or added."""
    whole = {*PARTS.answer.zh[0].split("; ")}
    wrong = [wrong_name(PARTS, rng_for(f"parts:{i}", 0)) for i in range(20)]
    sets = [{*name.zh[0].split("、")} for name in wrong if name]
    assert all(parts != whole for parts in sets)
    assert {len(parts) - len(whole) for parts in sets} == {-1, 0, 1}


def test_a_translation_has_the_same_fields() -> None:
    """The English and the Chinese template of a pair have the same fields."""
    words = sentences()
    pairs = [*words.say, *words.clause, *words.rival, *words.undecided]
    pairs += [p for kind in words.kinds.values() for p in (*kind.ask, *kind.rival)]
    for pair in pairs:
        assert all((slot in pair.en) is (slot in pair.zh) for slot in ("{s}", "{a}", "{b}")), pair


def test_a_name_that_contains_another_is_no_wrong_answer_to_it() -> None:
    """A part of a name may be right, too."""
    assert Name(("Washington, D.C.",), ("华盛顿",)).shares(Name(("Washington",), ("华盛顿市",)))
    assert not Name(("Lima",), ("利马",)).shares(Name(("Quito",), ("基多",)))


@pytest.mark.parametrize(
    ("line", "said"),
    [("capital\tX\t某", "3 columns"), ("capital\tX\t某\tY\t乙\tA|B\t甲", "do not pair")],
)
def test_a_line_that_cannot_be_read_says_where(tmp_path: Path, line: str, said: str) -> None:
    """The message starts with ``file:line``."""
    table = tmp_path / "names.tsv"
    table.write_text(f"# source\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"names\.tsv:2: .*{said}"):
        list(bilingual_module._table(table))
