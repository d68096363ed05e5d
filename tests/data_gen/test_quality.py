"""Quality checks: n-grams shared with evaluation files, duplicates, artifacts in responses."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.artifact_probe import probe_artifacts
from data_gen.duplicates import exact_key, near_copies, signature
from data_gen.ngrams import MIN_WHOLE, Contamination, N, digests, tokens

WORDS = [a + b for a in "bcdfgklm" for b in ("ar", "en", "il", "on", "ut")]
LETTERS = st.text("abcdefgh", min_size=1, max_size=4)
QUESTION = (
    "A farmer has 12 hens and each of them lays 5 eggs a week. "
    "How many eggs does he collect in 4 weeks?"
)


def sentence(rng: random.Random, n: int) -> list[str]:
    return [rng.choice(WORDS) for _ in range(n)]


class TestNgrams:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Ａ＋ｂ＝１２", ["a", "b", "12"]),
            ("求x²的值", ["求", "x", "2", "的", "值"]),
            ("don't, STRASSE", ["don", "t", "strasse"]),
            ("Straße x_1 3.14", ["strasse", "x", "1", "3", "14"]),
            ("𠀀b\ud800 $!", ["𠀀", "b"]),
            ("", []),
        ],
    )
    def test_a_token_is_a_han_character_or_a_run(self, text: str, expected: list[str]) -> None:
        """Width, case and signs are ignored; letters and digits are separate tokens."""
        assert tokens(text) == expected

    @given(st.lists(LETTERS, min_size=N, max_size=30), st.data())
    def test_a_shared_run_of_n_tokens_is_found_anywhere(
        self, words: list[str], data: st.DataObject
    ) -> None:
        """Any n consecutive shared tokens, in any context, are a hit and are reported."""
        held = Contamination()
        held.add(" ".join(words))
        start = data.draw(st.integers(0, len(words) - N))
        run = words[start : start + N]
        assert held.hit(f"1 2 3 {', '.join(run)} 4 5 6.") == " ".join(run)

    def test_a_run_of_one_token_less_is_not_a_hit(self) -> None:
        """Twelve shared tokens between other tokens are no hit."""
        words = sentence(random.Random(0), 30)
        held = Contamination()
        held.add(" ".join(words))
        assert held.hit(" ".join(["other", *words[4 : 4 + N - 1], "others"])) is None

    def test_a_short_text_counts_as_a_whole_only(self) -> None:
        """A text of eight tokens matches an equal text, and no longer text that contains it."""
        held = Contamination()
        held.add("Who wrote the opera about a barber?")
        assert held.hit("who wrote the opera about a barber") == (
            "who wrote the opera about a barber"
        )
        assert held.hit("In 1816, who wrote the opera about a barber?") is None
        assert held.hit(f"Who wrote the opera about a barber? {QUESTION}") is None

    def test_a_text_below_six_tokens_is_ignored(self) -> None:
        """Two authors may write a short text, such as a bare sum, independently."""
        held = Contamination()
        held.add("What is 2 + 3?")
        assert MIN_WHOLE == 6
        assert len(held) == 0
        assert held.hit("What is 2 + 3?") is None

    def test_a_hit_is_the_shared_ngram(self) -> None:
        """The result is the first n-gram that both texts have."""
        held = Contamination(n=6)
        held.add(QUESTION)
        assert held.hit("So EACH of them\nlays ５ eggs") == "each of them lays 5 eggs"
        assert held.hit("") is None

    def test_digests_depend_on_the_order_and_on_nothing_else(self) -> None:
        """The digests equal pinned values, so they are the same in every process."""
        assert int(digests(["a", "b"], 2)[0]) != int(digests(["b", "a"], 2)[0])
        assert digests(["x"], 2).size == 0
        assert f"{int(digests(['甲', 'b', '7'], 3)[0]):016x}" == "8701abde20033121"


def similarity(one: np.ndarray, other: np.ndarray) -> float:
    """The estimated Jaccard similarity of two texts."""
    return float((one == other).mean())


def found(texts: list[str]) -> list[int]:
    """The near duplicates among the texts of one class."""
    return [*near_copies(np.stack([signature(text) for text in texts]), 0.9)]


class TestDuplicates:
    def test_exact_duplicates_differ_in_blanks_and_composed_accents_alone(self) -> None:
        """Signs, case and exponents distinguish answers."""
        assert exact_key("caf\u00e9  au\nlait ") == exact_key("cafe\u0301 au lait")
        assert len({exact_key(t) for t in ("x²", "x2", "X2", "-x2", "x\ud800")}) == 5

    @given(st.text(max_size=60), st.integers(0, 5))
    def test_a_signature_depends_on_tokens_alone(self, text: str, blanks: int) -> None:
        """Equal tokens give equal signatures, and so does an equal text without tokens."""
        assert similarity(signature(text), signature(text)) == 1
        if tokens(text):
            assert np.array_equal(signature(text), signature(text + " " * blanks))

    def test_the_estimate_is_unbiased(self) -> None:
        """The mean share of equal minima over many pairs is the Jaccard similarity."""
        rng, errors = random.Random(3), []
        for _ in range(150):
            one = sentence(rng, 120)
            other = list(one)
            for _ in range(rng.randrange(15)):
                other[rng.randrange(120)] = "zzz"
            a, b = ({tuple(t[i : i + 5]) for i in range(116)} for t in (one, other))
            estimate = similarity(signature(" ".join(one)), signature(" ".join(other)))
            errors.append(estimate - len(a & b) / len(a | b))
        assert abs(np.mean(errors)) < 0.02
        assert np.std(errors) < 0.08

    def test_a_text_of_many_blocks_has_the_minima_of_all(self) -> None:
        """The signature of a long text depends on its end, too."""
        rng = random.Random(4)
        text = " ".join("".join(rng.choices("abcdefghij", k=5)) for _ in range(9000))
        parts = np.minimum(signature(text[:30_030]), signature(text[30_000:]))
        assert similarity(signature(text), parts) > 0.95

    def test_the_copy_of_a_row_of_a_template_is_found(self) -> None:
        """Rows of a template with other numbers share bands without being duplicates."""
        rng = random.Random(7)
        base, rows = sentence(rng, 100), []
        for _ in range(2000):
            words = list(base)
            for place in rng.sample(range(100), 4):
                words[place] = str(rng.randrange(10**6))
            rows.append(" ".join(words))
        assert 2000 in found([*rows, rows[0]])


class TestArtifactProbe:
    @staticmethod
    def rows(planted: bool) -> tuple[list[str], list[bool], list[str]]:
        rng = random.Random(8)
        labels = [rng.random() < 0.5 for _ in range(600)]
        responses = []
        for number, label in enumerate(labels):
            words = sentence(rng, 12)
            if number % 3 == 0:
                words.append("答案是七")
            if planted and label and rng.random() < 0.8:
                words.append("therefore")
            responses.append(" ".join(words))
        return responses, labels, [f"q{i // 2}" for i in range(600)]

    def test_a_planted_artifact_is_measured(self) -> None:
        """A word in four of five correct responses gives about 90 %."""
        probe = probe_artifacts(*self.rows(planted=True), seed=0)
        assert 0.8 < probe["low"] < probe["balanced_accuracy"] < probe["high"] < 1

    def test_without_an_artifact_the_interval_contains_one_half(self) -> None:
        """Labels drawn independently of the response cannot be predicted."""
        probe = probe_artifacts(*self.rows(planted=False), seed=1)
        assert probe["low"] < 0.52
        assert probe["high"] > 0.48

    def test_answers_to_one_question_do_not_leak_between_folds(self) -> None:
        """A word that marks a question is no predictor, since questions are held out as a whole."""
        rng = random.Random(9)
        labels = [rng.random() < 0.5 for _ in range(80)]
        responses = [
            f"only{chr(97 + q % 26)}{chr(97 + q // 26)}" for q in range(80) for _ in "abcdef"
        ]
        probe = probe_artifacts(
            responses, [label for label in labels for _ in "abcdef"],
            [str(q) for q in range(80) for _ in "abcdef"], seed=0,
        )  # fmt: skip
        assert probe["balanced_accuracy"] < 0.65

    @pytest.mark.parametrize(
        ("responses", "labels"),
        [
            ([], []),
            (["a b"] * 12, [True] * 12),
            (["a b"] * 12, [True] * 10 + [False] * 2),
        ],
        ids=["no rows", "one label", "too few questions"],
    )
    def test_what_cannot_be_measured_is_none(
        self, responses: list[str], labels: list[bool]
    ) -> None:
        """Without folds there is no score, but the counts are reported."""
        probe = probe_artifacts(responses, labels, [str(i) for i in range(len(responses))], seed=0)
        assert probe["balanced_accuracy"] is None
        assert probe["n"] == len(responses)

    def test_the_same_seed_gives_the_same_values_and_they_survive_json(self) -> None:
        """The result is deterministic and equal after a round trip through JSON."""
        one, other = (probe_artifacts(*self.rows(planted=True), seed=1) for _ in "ab")
        assert one == other == json.loads(json.dumps(one))
