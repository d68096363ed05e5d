"""How each caller's parser reads a reply, written from its described behaviour.

``ORACLES`` maps a template's name to its readers; a reader returns ``correct``, ``incorrect``,
``invalid`` or None (no verdict: unscored, retried or an error on the caller's side). A caller
with several parsers has several readers: all must agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

Reader = Callable[[str], str | None]

LETTERS: Final = {"A": "correct", "B": "incorrect", "C": "invalid"}
YES_NO: Final = {"yes": "correct", "no": "incorrect"}
ITSELF: Final = {"correct": "correct", "incorrect": "incorrect"}


def match(pattern: str, means: Mapping[str, str], at: int = 0, other: str | None = None) -> Reader:
    """The first match of the pattern, or the last, in lower case where the words are."""
    words = {word.lower(): verdict for word, verdict in means.items()}

    def read(reply: str) -> str | None:
        found = re.findall(pattern, reply)
        return words.get(found[at].lower(), other) if found else other

    return read


def first(pattern: str, means: Mapping[str, str], other: str | None = None) -> Reader:
    return match(pattern, means, 0, other)


def last(pattern: str, means: Mapping[str, str], other: str | None = None) -> Reader:
    return match(pattern, means, -1, other)


def right(is_right: Callable[[str], bool]) -> Reader:
    """Everything else is wrong."""
    return lambda reply: "correct" if is_right(reply) else "incorrect"


def key(name: str, means: Mapping[str, str] = ITSELF) -> Reader:
    """The value of a JSON object, in any case."""
    words = {word.lower(): verdict for word, verdict in means.items()}
    return lambda reply: words.get(str(json.loads(reply)[name]).strip().lower())


def parsed(reply: str) -> dict[str, str] | None:
    """A JSON object, if the reply is one."""
    try:
        value: dict[str, str] = json.loads(reply)
    except json.JSONDecodeError:
        return None
    return value


YES_ANYWHERE: Final = right(lambda reply: "yes" in reply.lower())
STARTS_WITH_YES: Final = right(lambda reply: reply.strip().lower().startswith("yes"))
ONE_ALONE: Final = right(lambda reply: reply.strip() == "1")


# AA-LCR: OpenCompass looks for INCORRECT first, NeMo-Skills at the beginning, NeMo Gym for the
# first label. Version 1.1 reads a JSON object, or else the first separate word.


def incorrect_first(reply: str) -> str | None:
    words = [word for word in ("incorrect", "correct") if re.search(rf"(?i)\b{word}\b", reply)]
    return words[0] if words else None


def first_label(equal: str, other: str) -> Reader:
    """The label that comes first; a reply without one is wrong."""
    return right(lambda r: equal in r and not 0 <= r.find(other) < r.find(equal))


# Answer Matching: the last tag, the first, or the later of the last 0 and the last 1.


def tag(at: int) -> Reader:
    means = {"1": "correct"}
    return match(r"(?s)<answer>\s*(.*?)\s*</answer>", means, at, "incorrect")


LAST_DIGIT: Final = right(lambda reply: reply.rfind("1") > reply.rfind("0"))


def atlas(reply: str) -> str | None:
    """The first fence, single backslashes doubled, and every label must be A."""
    fence = re.search(r"(?s)```json(.*?)```", reply.rsplit("</think>", 1)[-1])
    if fence is None:
        return "incorrect"
    doubled = re.sub(r'(?<!\\)\\(?![\\/"bfnrtu])', r"\\\\", fence[1].strip())
    try:
        labels = {entry["label"] for entry in json.loads(doubled)["judgements"]}
    except (json.JSONDecodeError, KeyError):
        labels = {"C"}
    if labels == {"A"}:
        return "correct"
    return "invalid" if "C" in labels else "incorrect"


# CompassVerifier's own reader, OpenCompass's, VLMEvalKit's and that of verifiers.


def compassverifier(reply: str) -> str | None:
    """The last box, else the bare letter, else the last capital behind the judgment's label."""
    if re.search(r"boxed\{([A-C])\}", reply):
        return last(r"boxed\{([A-C])\}", LETTERS)(reply)
    return last(r"[A-C]", LETTERS)(reply.rpartition("Final Judgment:")[2])


def hybrid(reply: str) -> str:
    """The text is right that is A, or whose last box holds A alone."""
    before, box, behind = reply.rpartition("\\boxed{")
    said = behind.partition("}")[0] if box else before + behind
    return "correct" if said.strip() == "A" else "incorrect"


COMPASS: Final = (
    compassverifier,
    first(r"A|B", LETTERS, "invalid"),  # anything else counts as not attempted
    right(lambda reply: compassverifier(reply) == "correct"),
)


# DeepEyes: what follows the last ``Judgement:``, else the whole reply; all but a 1 is wrong. A
# descendant reads a named value, or a bare digit.


def score(reply: str) -> bool:
    _, label, said = reply.strip().rpartition("Judgement:")
    return "1" in said if label else said == "1"


def named_score(reply: str) -> bool:
    found = re.search(r"(?i)\bjudge?ment\s*value\b\s*[:=]?\s*([01])\b", reply)
    found = found or re.search(r"^\s*([01])\s*$", reply)
    return found is not None and found[1] == "1"


def report(reply: str) -> bool:
    """The words behind the last heading; both of them, or neither, is wrong."""
    text = reply.strip().split("## Equivalence Judgement")[-1].lower()
    return "true" in text and "false" not in text


# evalscope reads exactly one JSON object with both keys; a parse error leaves the sample out.


def objects(text: str) -> list[str]:
    """The outermost pairs of braces outside strings."""
    found, depth, start = [], 0, 0
    for part in re.finditer(r'"(?:\\.|[^"\\])*"?|[{}]', text, re.DOTALL):
        if part[0] == "{":
            start = start if depth else part.start()
            depth += 1
        elif part[0] == "}" and depth:
            depth -= 1
            if not depth:
                found.append(text[start : part.end()])
    return found


def contract(reply: str) -> str | None:
    found = objects(reply)
    value = (parsed(found[0]) if len(found) == 1 else None) or {}
    known = isinstance(value.get("reasoning"), str) and value.get("verdict") in ["A", "B"]
    return LETTERS[value["verdict"]] if known else None


def simpleqa_contract(reply: str) -> str | None:
    value = parsed(reply) or {}
    return (
        LETTERS.get(value.get("verdict", "")) if isinstance(value.get("reasoning"), str) else None
    )


# General-Verifier: a final decision anywhere and exact, in any case, or the last one.
EXACT_DECISION: Final = right(lambda reply: "Final Decision: Yes" in reply)
ANY_DECISION: Final = right(lambda reply: "final decision: yes" in reply.lower())


def last_decision(reply: str) -> bool:
    """Without a decision, the last word."""
    said = reply.upper().strip()
    yes, no = said.rfind("FINAL DECISION: YES"), said.rfind("FINAL DECISION: NO")
    return yes > no if max(yes, no) >= 0 else said.split()[-1:] == ["YES"]


# simple-evals takes the first "correct: yes" or "no", and "no" where there is none; others a line
# of its own, in any case, bold or not. evalscope takes the first grade, inspect_ai the last.
HLE: Final = (
    first(r"correct: (yes|no)", YES_NO, "incorrect"),
    first(r"(?im)^\W*correct\W*:\W*(yes|no)\b", YES_NO),
)
GRADE: Final = r"(?i)GRADE\s*:\s*([CPI])"
GRADES: Final = {"C": "correct", "I": "incorrect"}


# The labeled answer: the whole reply is one of two words; else the caller asks again. Of a fenced
# object, the first fence behind the last opening of one.


def one_of_two(reply: str) -> str | None:
    return ITSELF.get(reply.strip().rstrip(".").lower())


def labeled(reply: str) -> str | None:
    value = json.loads(reply.split("```json")[-1].split("```")[0].strip())
    return one_of_two(str(value["judgement"]))


# LangChain: a letter at either end of the reply; a grade by name, or its first or last word.


def letter_at_an_end(reply: str) -> str | None:
    text = reply.strip()
    found = re.search(r"\s*(Y|N)\s*\Z", text) or re.search(r"\A\s*(Y|N)\b", text)
    return {"Y": "correct", "N": "incorrect"}[found[1]] if found else None


def langchain_grade(reply: str) -> str | None:
    named = re.search(r"(?i)grade:\s*(correct|incorrect)", reply.strip())
    words = re.findall(r"\w+", reply.lower()) or [""]
    return named[1].lower() if named else ITSELF.get(words[0], ITSELF.get(words[-1]))


def locomo(reply: str) -> bool:
    """The label of a JSON object; what is none is wrong."""
    value = parsed(reply)
    return value is not None and value["label"] == "CORRECT"


# simple-evals compares the whole reply, OpenCompass takes the first bracket, evalscope JSON: no
# object, or another verdict, is a parse error, and the sample is left out.
EQUAL: Final = right(lambda reply: reply.lower().strip() == "yes")
BRACKET: Final = first(r"(?i)\[(incorrect|correct|yes|no)\]", {**ITSELF, **YES_NO})


def equal_json(reply: str) -> str | None:
    value = parsed(reply)
    return None if value is None else {"Yes": "correct", "No": "incorrect"}.get(value["verdict"])


# NeMo-Skills: what is behind the first label in newer versions, behind the last in old ones.


def behind_first(reply: str) -> bool:
    label = re.search(r"(?i)\*{0,2}Judgement\*{0,2}\s*:", reply)
    said = reply[label.end() :].strip().lstrip("*").strip().lower() if label else ""
    return said.startswith("yes")


def behind_last(reply: str) -> bool:
    _, label, said = reply.rpartition("Judgement:")
    return bool(label) and said.strip().lower() == "yes"


NEMO: Final = (right(behind_first), right(behind_last))


# Reports: split at the headings, as in Omni-MATH, or the heading's first match, else a last word.
# OpenCompass writes one more heading before the reply, as Omni-Judge's template ends with it.


def by_headings(reply: str) -> bool:
    found: dict[str, str] = {}
    for part in reply.split("## ")[1:]:
        title, _, content = part.strip().partition("\n")
        found[title.strip()] = content.strip().split("\n")[0].strip()
    return found.get("Equivalence Judgement") == "TRUE"


def heading_or_word(reply: str) -> bool:
    heading = re.search(r"(?i)##\s*Equivalence\s*Judgement\s*\n\s*(TRUE|FALSE)", reply)
    words = re.findall(r"(?i)\b(TRUE|FALSE)\b", reply)
    return (heading[1] if heading else ["FALSE", *words][-1]).upper() == "TRUE"


def open_instruct(reply: str) -> bool:
    """It mends the JSON, which breaks most LaTeX in it, and then looks for digits."""
    text = reply.strip().removeprefix("```json").removesuffix("```").replace("\n", "\\n")
    text = re.sub(r'\\(?!["\\/bfnrtu])', r"\\\\", text)
    try:
        value = json.loads(text).get("SCORE", 0.0)
    except json.JSONDecodeError:
        found = re.search(r'"SCORE"\s*:\s*"?([0-9]+(?:\.[0-9]+)?)"?', text)
        value = found[1] if found else 0.0
    try:
        return float(value) == 1
    except ValueError:
        return False


# openai/evals: the first line, or the last, that begins or ends with a choice. Without one,
# ``fact`` counts the sample as invalid; ``closedqa`` gives the lower score.


def choice(means: Mapping[str, str], step: int, other: str | None = None) -> Reader:
    def read(reply: str) -> str | None:
        for line in reply.strip().split("\n")[::step]:
            text = line.strip().strip(".()'\"")
            for letter, verdict in means.items():
                if text.startswith(letter) or text.endswith(letter):
                    return verdict
        return other

    return read


FACT: Final = dict.fromkeys("ABC", "correct") | {"D": "incorrect", "E": "correct"}
CLOSED: Final = {"Y": "correct", "N": "incorrect"}


# chem_exam: a phrase in bold, or the last number in a box; SciReasoner: the word and no other.
SHARE: Final = r"(?:<NUMBER>\s*|\\boxed\{)\s*(-?\d*\.?\d+)\s*(?:</NUMBER>|\})"


def last_share(reply: str) -> bool:
    found = re.findall(SHARE, reply)
    return bool(found) and float(found[-1]) == 1


def promptfoo(reply: str) -> str | None:
    """The category of the JSON object in the reply, one of five letters."""
    return key("category", GRADES | {"D": "incorrect"})(
        reply[reply.index("{") : reply.rindex("}") + 1]
    )


def last_word(reply: str) -> str:
    """VerifyBench takes the last, capitalised; without one its script ends in an error."""
    return YES_NO[re.findall(r"Yes|No", reply)[-1].lower()]


def v1_label(reply: str) -> str | None:
    """Verifiers v1 takes the last label by itself and raises without one."""
    said = reply.rsplit("</think>", 1)[-1].upper()
    return last(r"(?<!\w)(YES|NO)(?!\w)", YES_NO)(said)


def conclusion(reply: str) -> str | None:
    """xbench: the first conclusion, up to its next colon; without one the caller asks again."""
    found = re.search(r"结论:*\s*(正确|错误)", reply)
    return ZH.get(found[0].split(":")[1].strip()) if found else None


ZH: Final = {"正确": "correct", "错误": "incorrect"}

LAST_BOX: Final = right(lambda r: r.rpartition("boxed{")[2].partition("}")[0].strip() == "1")
LIVEMATH: Final = last(r"\\boxed{(.+?)}", {"yes": "correct"}, "incorrect")
ORACLES: Final[dict[str, tuple[Reader, ...]]] = {
    "aa_lcr": (
        incorrect_first,
        right(lambda reply: reply.strip().upper().startswith("CORRECT")),
        first_label("CORRECT", "INCORRECT"),
    ),
    "aa_lcr_json": (key("verdict"), first(r"(?i)\b(CORRECT|INCORRECT)\b", ITSELF)),
    "answer_matching": (tag(-1), tag(0), LAST_DIGIT),
    "answer_matching_digit": (LAST_DIGIT,),
    "atlas": (atlas,),
    "babyvision": (right(lambda reply: "true" in reply.lower()),),
    "browsecomp_ab": (first(r"[AB]", LETTERS),),
    "browsecomp_plus": HLE,
    "browsecomp_zh": (first(r"[AB]", LETTERS),),
    "chartmuseum": (YES_ANYWHERE,),
    "chem_exam": (right(lambda reply: "**Correct Answer**" in reply),),
    "chem_exam_share": (right(last_share),),
    "cmmath": (last(r"<(Yes|No)>", YES_NO),),
    "compassverifier": COMPASS,
    "compassverifier_candidate_first": COMPASS,
    "compassverifier_cot": (compassverifier, COMPASS[2], hybrid),
    "consistency": (right(score), right(named_score)),
    "deepeyes_math": (right(report),),
    "evalscope": (contract,),
    "evalscope_letter": (first(r"A|B", LETTERS, "incorrect"),),
    "evalscope_letter_lines": (first(r"A|B", LETTERS, "incorrect"),),
    "evalscope_letter_rules": (first(r"\A\s*(A|B)\s*\Z", LETTERS),),  # asked again otherwise
    "general_verifier": (EXACT_DECISION, ANY_DECISION, right(last_decision)),
    "gradegpt": (last(r"<(Yes|No)>", YES_NO),),
    "gym_equivalence": (first_label("[[A=B]]", "[[A!=B]]"),),
    "gym_math": (first_label("[[A=B]]", "[[A!=B]]"),),
    "hle": HLE,
    "hle_grade": (first(GRADE, GRADES),),
    "hle_nemo": NEMO,
    "inspect_fact": (last(GRADE, GRADES | {"P": "partial"}),),
    "inspect_qa": (last(GRADE, GRADES | {"P": "partial"}),),
    "labeled_answer": (one_of_two,),
    "labeled_answer_json": (labeled,),
    "labeled_answer_last": (one_of_two,),
    "langchain_criteria": (letter_at_an_end,),
    "langchain_qa": (langchain_grade,),
    "langchain_qa_professor": (langchain_grade,),
    "langchain_qa_true_first": (langchain_grade,),
    "livemathbench": (LIVEMATH,),
    "livemathbench_cn": (LIVEMATH,),
    "lm_eval_pisa": (ONE_ALONE,),
    "lmms_binary": (right(lambda reply: "1" in reply),),
    "lmms_correctness": (STARTS_WITH_YES,),
    "locomo": (right(locomo),),
    "longmemeval": (YES_ANYWHERE, STARTS_WITH_YES),
    "math_equality": (EQUAL,),
    "math_equality_asked": (EQUAL,),
    "math_equality_brackets": (BRACKET,),
    "math_equality_json": (equal_json,),
    "mathverse_score": (ONE_ALONE,),  # no digit: asked again for ever in lmms-eval
    "mme_reasoning_score": (ONE_ALONE,),
    "nemo_math": NEMO,
    "nemo_physics": (right(lambda reply: "[correct]" in reply.lower()),),
    "nemo_speechlm": NEMO,
    "omni_math": (
        right(by_headings),
        right(lambda reply: by_headings("## Student Final Answer\n" + reply.strip())),
        right(heading_or_word),
    ),
    "open_instruct_factuality": (right(open_instruct),),
    "openai_evals_closedqa": (choice(CLOSED, -1, "incorrect"), choice(CLOSED, 1, "incorrect")),
    "openai_evals_fact": (choice(FACT, -1), choice(FACT, 1)),
    "opencompass": (
        first(r"A|B", LETTERS),
        right(lambda reply: reply.strip().upper() == "A" or reply.strip()[:7].upper() == "CORRECT"),
    ),
    "opencompass_abc": (first(r"A|B|C", LETTERS),),
    "pitfalls_genrm": (LAST_BOX,),
    "pitfalls_genrm_pair": (LAST_BOX,),
    "promptfoo_factuality": (promptfoo,),
    "reasoning360": (EXACT_DECISION, right(last_decision)),
    "scireasoner": (right(lambda reply: reply.strip().upper() == "TRUE"),),
    "simpleqa": (
        first(r"A|B|C", LETTERS, "invalid"),  # what holds no letter was not attempted
        lambda reply: LETTERS.get(reply.strip()[:1]),
        LETTERS.get,
    ),
    "simpleqa_ab": (
        first(r"A|B|C", LETTERS, "invalid"),
        lambda reply: LETTERS.get(reply.strip()[:1]),
    ),
    "simpleqa_json": (simpleqa_contract,),
    "simpleqa_zh": (first(r"A|B|C", LETTERS, "invalid"),),
    "ugphysics": (right(by_headings), right(heading_or_word)),
    "verifiers_reference": (v1_label,),
    "verifiers_rubric": (YES_ANYWHERE, STARTS_WITH_YES),
    "verifiers_rubric_pair": (YES_ANYWHERE, STARTS_WITH_YES),
    "verifybench": (last_word,),
    "webwalker": (key("judgement"),),
    "xbench": (conclusion, first(r"结论[:：]\s*.*?(正确|错误)", ZH)),
    "xverify": (first(r"(?i)\A\s*(correct|incorrect)\s*\Z", ITSELF),),
    "xverify_annotation": (key("judgement"),),
    "xverify_annotation2": (key("judgement"),),
    "xverify_no_question": (first(r"(?i)\A\s*(correct|incorrect)\s*\Z", ITSELF),),
}
