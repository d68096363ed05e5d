"""The data card: its counts and contents, and that all texts are escaped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from data_gen.card import write_card
from data_gen.card.collect import CROSS, collect
from data_gen.card.plots import draw
from data_gen.card.tables import balance_table, length_table, longer_share, verdict_table
from data_gen.card.write import fence, markdown
from gradegpt.chain import Chain, PromptSettings, build_prompt, render_chain
from gradegpt.errors import InputError
from gradegpt.schema import AnswerType, ChainFormat, Item, TrainingRow, Verdict

KEY = {"zh": "所以答案是{}。", "en": "So the answer is {}."}
SCORE = {"n": 40, "n_correct": 20, "balanced_accuracy": 0.53, "low": 0.48, "high": 0.58}
SIGN = {"ngram": "a|<b>", "weight": 0.5, "n": 9, "share_correct": 0.75}


def row(
    number: int, verdict: Verdict, *, lang: str = "en", response_lang: str = "", **meta: Any
) -> dict[str, Any]:
    """A training row as the generator writes it, whose response ends in its key sentence."""
    response_lang = response_lang or lang
    invalid = verdict is Verdict.INVALID
    key = KEY[response_lang].format(7 if verdict is Verdict.CORRECT else 8)
    filler = "We look at what is given. " * (5 + number % 4)
    item = Item(
        question="一共几个？" if lang == "zh" else f"How many? ({number})",
        reference="7",
        response=filler if invalid else filler + meta.pop("extra", "") + "\n" + key,
    )
    chain = Chain(
        verdict=verdict,
        key_sentence=None if invalid else key,
        gloss="So the answer is given.",
        reference_answer="7",
        answer_type=AnswerType.NUMBER,
        answer=None if invalid else key[-2],
    )
    values = {
        "id": f"r{number}", "verdict": verdict.value, "answer_type": "number", "lang": lang,
        "response_lang": response_lang, "source": "made", "origin": "synthetic",
        "pattern": "hard_negative", "labelled_by": "construction+rules",
        "chain_format": "cross_lingual", **meta,
    }  # fmt: skip
    return TrainingRow(
        prompt=build_prompt(item, PromptSettings()),
        completion=(
            {"role": "assistant", "content": render_chain(chain, ChainFormat.CROSS_LINGUAL)},
        ),
        meta=values,
    ).model_dump(mode="json")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    made = [
        row(n, verdict, lang=lang, origin=origin)
        for n in range(4)
        for verdict in Verdict
        for lang in ("zh", "en")
        for origin in ("real", "synthetic")
    ]
    return [*made, row(99, Verdict.CORRECT, lang="zh", response_lang="en")]


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    return {
        "version": "0.1.0",
        "settings": {"name": "small", "seed": 3, "out": "/home/someone/data"},
        "inputs": {"/home/someone/graded.jsonl": "ab" * 32},
        "outputs": {"train.parquet": "cd" * 32, "dev.parquet": "ef" * 32},
        "counts": {"train": 45, "dev": 4},
        "shortfalls": [{"cell": "zh/code", "wanted": 20, "have": 3}],
        "quality": {
            "exact_duplicates": 1234, "near_duplicates": 5, "contaminated": 0, "disputed": 17,
            "artifact_probe": {
                "n_groups": 40, "overall": SCORE, "by_language": {"zh": SCORE, "en": SCORE},
                "correct": [SIGN], "incorrect": [],
            },
        },
        "teacher": {"model": "some-teacher"},
    }  # fmt: skip


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory,
    manifest: dict[str, Any],
    rows: list[dict[str, Any]],
) -> Path:
    path = tmp_path_factory.mktemp("card")
    write_card(path, manifest, rows)
    return path


def front_matter(readme: str) -> Any:
    return yaml.safe_load(readme.split("---\n")[1])


@pytest.fixture
def without_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing six plots takes most of the time of a card."""
    monkeypatch.setattr("data_gen.card.write.draw", lambda *_: {})


class TestFiles:
    def test_the_front_matter_is_what_data_hubs_read(self, folder: Path) -> None:
        """The front matter has languages, size and files by part, and claims no licence."""
        matter = front_matter((folder / "README.md").read_text("utf-8"))
        assert matter["language"] == ["zh", "en"]
        assert matter["size_categories"] == ["n<1K"]
        assert matter["configs"][0]["data_files"] == [
            {"split": "train", "path": "train.parquet"},
            {"split": "dev", "path": "dev.parquet"},
        ]
        assert "license" not in matter

    def test_every_plot_is_written_and_shown_on_both_pages(self, folder: Path) -> None:
        """The README links the files and the page embeds them; neither needs the network."""
        readme = (folder / "README.md").read_text("utf-8")
        page = (folder / "card.html").read_text("utf-8")
        plots = {f"card/{path.name}" for path in (folder / "card").iterdir()}
        names = ("balance", "origins", "patterns", "lengths", "positions", "artifact_probe")
        assert plots == {f"card/{name}.png" for name in names}
        assert set(re.findall(r"\]\((card/[^)]*)\)", readme)) == plots
        assert page.count("data:image/png;base64,") == len(plots)
        assert "http" not in page

    def test_both_pages_have_every_section(self, folder: Path) -> None:
        """Both pages have the heading of every section."""
        readme = (folder / "README.md").read_text("utf-8")
        page = (folder / "card.html").read_text("utf-8")
        titles = re.findall(r"^## (.*)$", readme, re.MULTILINE)
        assert titles == [
            "What this is", "Sizes", "Balance", "Origins and patterns", "Lengths and places",
            "Labels", "What the response alone gives away", "Left out", "Shortfalls", "Teacher",
            "Rows in full", "How to load it", "Limits",
        ]  # fmt: skip
        assert re.findall(r"<h2 id=[^>]*>(.*)</h2>", page) == titles
        for number in ("1,234", "53.0 %", "48.0 % to 58.0 %", "zh/code"):
            assert number in readme
            assert number in page

    def test_paths_of_the_machine_are_left_out(self, folder: Path) -> None:
        """Inputs are listed by their file names alone."""
        readme = (folder / "README.md").read_text("utf-8")
        assert "graded.jsonl" in readme
        assert "/home/someone" not in readme
        assert "/home/someone" not in (folder / "card.html").read_text("utf-8")

    def test_the_same_input_gives_the_same_bytes(
        self, folder: Path, tmp_path: Path, manifest: dict[str, Any], rows: list[dict[str, Any]]
    ) -> None:
        """The bytes of plots are equal, too, for any plot settings of the user."""
        import matplotlib as mpl

        with mpl.rc_context({"font.size": 20, "savefig.dpi": 30, "axes.facecolor": "pink"}):
            write_card(tmp_path, manifest, rows)
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            assert path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes()

    def test_a_bare_manifest_gives_a_shorter_card(
        self, tmp_path: Path, rows: list[dict[str, Any]]
    ) -> None:
        """Sections without data are left out instead of being filled with zeros."""
        write_card(tmp_path, {}, rows)
        readme = (tmp_path / "README.md").read_text("utf-8")
        titles = re.findall(r"^## (.*)$", readme, re.MULTILINE)
        assert titles == [
            "What this is", "Sizes", "Balance", "Origins and patterns", "Lengths and places",
            "Labels", "Rows in full", "How to load it", "Limits",
        ]  # fmt: skip
        assert not (tmp_path / "card" / "artifact_probe.png").exists()

    def test_no_rows_and_no_manifest_still_give_a_card(self, tmp_path: Path) -> None:
        """The card of an empty set states that there are no rows."""
        write_card(tmp_path, {"shortfalls": []}, [])
        assert "No rows." in (tmp_path / "README.md").read_text("utf-8")

    @pytest.mark.usefixtures("without_plots")
    def test_json_lines_outputs_are_named_as_they_are(
        self, tmp_path: Path, rows: list[dict[str, Any]]
    ) -> None:
        """The card of a set without Parquet files links its JSON Lines."""
        write_card(tmp_path, {"outputs": {"train.jsonl": "ab", "other.txt": "cd"}}, rows)
        matter = front_matter((tmp_path / "README.md").read_text("utf-8"))
        assert matter["configs"][0]["data_files"] == [{"split": "train", "path": "train.jsonl"}]


class TestUntrustedText:
    @pytest.mark.usefixtures("without_plots")
    def test_a_response_cannot_write_into_the_page(self, tmp_path: Path) -> None:
        """Scripts, fences and table bars in a response, pattern or n-gram are shown as text."""
        hostile = "<script>alert(1)</script>\n```\n# heading\n````"
        bad = row(1, Verdict.CORRECT, extra=hostile, pattern="<img src=x>|`b`", source="答|案")
        write_card(tmp_path, {}, [bad])
        page = (tmp_path / "card.html").read_text("utf-8")
        readme = (tmp_path / "README.md").read_text("utf-8")
        assert "<script" not in page
        assert "<img src=x>" not in page
        assert "`````text\n" in readme
        assert r"| \<img src=x\>\|\`b\` |" in readme

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("single_choice", "single_choice"),
            ("_a_", r"\_a\_"),
            ("a\n|\tb", r"a \| b"),
            ("*[x](y)*", r"\*\[x\](y)\*"),
        ],
    )
    def test_special_characters_of_markdown_are_escaped(self, text: str, expected: str) -> None:
        """The text of a cell stays in its cell, on one line."""
        assert markdown(text) == expected

    def test_a_fence_is_longer_than_any_inside(self) -> None:
        """A code fence in a row cannot end the fence around it."""
        assert fence("a ```` b").startswith("`````\n")

    def test_chinese_names_do_not_reach_the_plots(self) -> None:
        """A missing glyph or a length of 0 would give a warning, which is an error in tests."""
        facts = collect([row(1, Verdict.CORRECT, pattern="近似$x^$", origin="真实", lang="zh")])
        facts.lengths["真实", "zh"] = {"invalid": [0]}
        assert draw(facts, [("全部", SCORE)])["patterns.png"].startswith(b"\x89PNG")


class TestCounts:
    def test_every_row_is_in_one_cell(self, rows: list[dict[str, Any]]) -> None:
        """The sums of the tables equal the number of rows."""
        facts = collect(rows)
        table = balance_table(facts)
        assert table.head[1:4] == ("zh correct", "zh incorrect", "zh invalid")
        assert table.rows[-1] == ("all", "9", "8", "8", "8", "8", "8", "49")
        by_origin = verdict_table("origin", facts.facets["origin"])
        assert by_origin is not None
        assert [cells[:2] for cells in by_origin.rows] == [("synthetic", "25"), ("real", "24")]

    def test_missing_meta_fields_are_shown_as_not_stated(self) -> None:
        """A row needs only its verdict; a table without any known value is left out."""
        bare = row(1, Verdict.CORRECT)
        bare["meta"] = {"verdict": "correct"}
        facts = collect([bare])
        assert verdict_table("pattern", facts.facets["pattern"]) is None
        assert balance_table(facts).rows[0][0] == "not stated"

    def test_the_position_of_the_key_sentence_is_measured(self) -> None:
        """The position is 1 where the response ends in it; an invalid row has none."""
        facts = collect([row(1, Verdict.INCORRECT), row(2, Verdict.INVALID)])
        assert dict(facts.places["synthetic"]) == {"incorrect": [1.0]}

    def test_a_length_artifact_shows_in_the_table(self) -> None:
        """If correct responses are always longer, the table shows 100 %."""
        long, short = row(1, Verdict.CORRECT, extra="word " * 50), row(1, Verdict.INCORRECT)
        table = length_table(collect([long, short]))
        assert table.rows[0][-1] == "100.0 %"

    @pytest.mark.parametrize(
        ("correct", "incorrect", "share"),
        [
            ([3], [1, 2], 1.0),
            ([2], [2], 0.5),
            ([1, 4], [2, 2], 0.5),
            ([1, 2], [2, 3, 9, 9], 0.0625),
            ([], [1], None),
        ],
    )
    def test_longer_share_by_hand(
        self, correct: list[int], incorrect: list[int], share: float | None
    ) -> None:
        """Ties count half: (1, 2) against (2, 3, 9, 9) has one tie among eight pairs."""
        assert longer_share({"correct": correct, "incorrect": incorrect}) == share

    def test_examples_do_not_depend_on_the_order_of_the_rows(
        self, rows: list[dict[str, Any]]
    ) -> None:
        """One row of each verdict and one across languages is shown, the same in any order."""
        facts = collect(rows)
        assert set(facts.shown) == {"correct", "incorrect", "invalid", CROSS}
        assert facts.shown == collect(reversed(rows)).shown
        assert facts.shown[CROSS].meta["id"] == "r99"

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"prompt": [{"role": "user", "content": "hello"}]},
                "row 2: not a training row of a judge",
            ),
            ({"meta": {}}, "row 2: not a training row of a judge"),
            ({"completion": []}, "row 2: not a training row of a judge"),
            ({"extra": 1}, "row 2: extra: unknown field"),
        ],
        ids=["another prompt", "no verdict", "no completion", "unknown field"],
    )
    def test_an_invalid_row_is_named(self, change: dict[str, Any], message: str) -> None:
        """The error names the row and what is missing."""
        good = row(1, Verdict.CORRECT)
        with pytest.raises(InputError, match=message):
            collect([good, good | change])
