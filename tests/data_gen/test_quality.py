"""Quality checks: n-grams shared with evaluation files, and duplicates."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
