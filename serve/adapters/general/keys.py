"""The JSON object that a prompt, or its ``response_format``, asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .choices import ContractError, choice_of_values
from .labels import squashed
from .words import PAIR

_VERDICT_NAMES: Final = """
judgement judgment verdict decision correct iscorrect correctness score result grade label pred
equivalent isequivalent match ismatch conclusion evaluation accuracy finaljudgement finaljudgment
finalverdict answercorrect correctnessscore binaryscore acc isright classification accurate 判断
判断结果 结论 判定 判定结果 结果 评判 评判结果 是否正确 正确 评分 得分 分数 verdictlabel
finaldecision matched passed pass matches ismatching agrees agree same issame consistent
isconsistent
"""
_VERDICT: Final = frozenset(_VERDICT_NAMES.split())
_RIGHT_NAMES: Final = """
correct iscorrect correctness equivalent isequivalent match ismatch answercorrect isright matched
accurate accuracy acc pred 是否正确 正确 passed pass matches ismatching agrees agree same issame
consistent isconsistent
"""
_RIGHT: Final = frozenset(_RIGHT_NAMES.split())
"""Names of keys whose true value says that the response is right."""
_PREFER: Final = ("score", "result", "label", "grade", "evaluation", "得分", "分数", "评分")
"""Names that are the verdict's only where no other key is."""
_REASON: Final = re.compile(
    r"reason|rational|explan|analys|justif|thought|comment|feedback|critique|note|why|evidence|"
    r"comparison|"
    r"summary|steps?\b|理由|原因|分析|解释|说明|依据", re.IGNORECASE,
)  # fmt: skip
_ANSWER: Final = re.compile(r"extract|answer|prediction|答案|提取", re.IGNORECASE)
_DEGREE: Final = re.compile(r"confiden|certain|置信|score|rating|分", re.IGNORECASE)
_KEY: Final = re.compile(r"[\"'“”`]([^\W\d][\w ]{0,40})[\"'“”`]\s*[:：(（]")
_BRACES: Final = re.compile(r"[{｛][^{}｛｝]*[}｝]")
_LISTED: Final = re.compile(
    r"\b(?:keys?|fields?)\b(?=[:\s]*[\[(\"'`]|:| (?:named|called|as|is)\b):?\s*"
    r"(?:(?:named|called|as|is)\s*)?[\[(]?((?:[\"'`]?\w+[\"'`]?(?:\s*,\s*|\s+and\s+|"
    r"\s*,\s*and\s+)?){1,6})[\])]?",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"[\"'`](\w{1,40})[\"'`] (?:key|field|property)\b")
_TOLD: Final = re.compile(r"\b(?:key|field) (?:named |called )?[\"'`](\w{1,40})[\"'`]")
_OBJECT: Final = re.compile(r"(?<![a-z])json(?![a-z])|\bdict(?:ionary)?\b", re.IGNORECASE)
_REMARK: Final = r"\s*(?:[(（][^()（）\n]{0,40}[)）]\s*)?"
_TOP: Final = re.compile(
    rf"(?:between|from|scale of)\s*[01](?:\.0)?{_REMARK}(?:-|–|to|and){_REMARK}(\d+)|"
    r"\b[01](?:\.0)?\s*(?:[-–~到至]|to)\s*(10|100|5|1)(?:\.0)?(?![A-Za-z\d.])|"
    r"[\"']:\s*(1)\.0\b",
    re.IGNORECASE,
)
"""The ends of a degree's range; a degree that is shown as 1.0 ends there."""
_SCORES: Final = frozenset(["score", "points", "point", "reward", "rating", "得分", "分数", "评分"])
AGREE: Final = ("The two answers agree.", "The two answers differ.")
"""The reason in the reply: no word of a verdict, for parsers that search for one."""


class JsonShape(NamedTuple):
    """The keys of the object, that of the verdict, and what the prompt says of its values.

    ``outer`` is the key of an object around it; ``lists`` are the keys that are shown with ``[]``.
    """

    keys: tuple[str, ...]
    key: str
    values: str
    boolean: bool
    quoted: bool
    degrees: Mapping[str, int]
    outer: str = ""
    lists: tuple[str, ...] = ()

    @property
    def means_right(self) -> bool:
        """Whether the name of the key says that its true value is right."""
        return means_right(self.key)

    def text(self, value: Any, *, agrees: bool, answer: str = "") -> str:
        """The object with this verdict; ``answer`` is the one that a right response has."""
        filled = {key: self._beside(key, answer, agrees=agrees) for key in self.keys}
        filled = {**filled, self.key: value}
        return json.dumps({self.outer: filled} if self.outer else filled, ensure_ascii=False)

    def _beside(self, key: str, answer: str, *, agrees: bool) -> Any:
        """The value of a key beside the verdict: a degree, an extracted answer, or a reason."""
        if key in self.degrees:
            return self.degrees[key] if agrees or _is_confidence(key) else 0
        if key in self.lists:
            return []
        if _REASON.search(key) or not _ANSWER.search(key):
            return AGREE[not agrees] if _REASON.search(key) else ""
        return answer if agrees else ""


def _is_confidence(key: str) -> bool:
    return re.search(r"confiden|certain|置信", key, re.IGNORECASE) is not None


def read_json(text: str, examples: str) -> JsonShape | None:
    """The object that a prompt describes, if there is one with a key of a verdict."""
    if not _OBJECT.search(text) and not re.search(r"[{｛]\s*[\"'“]\w+[\"'”]\s*[:：]", text):
        return None
    within = "\n".join(_BRACES.findall(text))
    described = within if any(squashed(key) in _VERDICT for key in _keys(within)) else text
    keys = [key for key in _keys(described) if _known(key)]
    listed = [
        k
        for m in _LISTED.finditer(text)
        for k in re.findall(r"\w+", m[1])
        if k != "and" and _known(k)
    ]
    shown = [m[1] for m in _KEY.finditer(examples) if _known(m[1])]
    named = [m[1] for m in _NAMED.finditer(text) if _known(m[1])]
    keys = list(dict.fromkeys([*keys, *listed, *named, *shown]))
    verdicts = [key for key in keys if squashed(key) in _VERDICT]
    sure = [key for key in verdicts if squashed(key) not in _PREFER] or verdicts
    told = [*_keys(text), *(m[1] for m in _TOLD.finditer(text))]
    sure = sure or [key for key in dict.fromkeys(told) if _has_two(key, text)]
    if len(sure) != 1:
        raise ContractError("the prompt asks for a JSON object, and no single key is the verdict's")
    [key] = sure
    for name in _beside(key, text):
        has_text = re.match(r"\s*(?:[\"'“<]|\[\])", _values(name, text))
        if name != key and not _known(name) and not has_text:
            raise ContractError(f"the prompt does not say what the key {name!r} of its JSON is for")
    keys += [key] if key not in keys else []
    keys += [name for name in _beside(key, text) if name not in keys]
    values = _values(key, text) or ""
    boolean = re.search(r"\bboolean\b|\bbool\b", values + text, re.IGNORECASE) is not None or (
        re.match(r"\s*<?\s*(?:true|false)\b", values, re.IGNORECASE) is not None
    )
    quoted = re.match(r"\s*[<(]?\s*[\"'“]", values) is not None
    degrees = _degrees(keys, key, text)
    lists = tuple(name for name in keys if _values(name, text).lstrip().startswith("[]"))
    return JsonShape(tuple(keys), key, values, boolean, quoted, degrees, _outer(key, text), lists)


def _outer(key: str, text: str) -> str:
    """The key whose value is the object with ``key``, where that is all of the outer object."""
    found = re.search(
        rf"{{\s*[\"'](\w{{1,40}})[\"']\s*:\s*{{[^{{}}]*[\"']{re.escape(key)}[\"'][^{{}}]*}}\s*}}",
        text,
    )
    return found[1] if found else ""


_TWO: Final = re.compile(rf"{PAIR.pattern}|\b(?:bool|boolean)\b", re.IGNORECASE)
"""What is shown as the value of a verdict."""


def _has_two(key: str, text: str) -> bool:
    shown = choice_of_values(shown_values(key, text)) is not None
    return shown or _TWO.search(_values(key, text)) is not None


def shown_values(key: str, text: str) -> list[str]:
    """The first words of what a key has in the objects of a text."""
    return re.findall(rf"[\"'`]{re.escape(key)}[\"'`]\s*[:：]\s*[\"']?(\w+)", text)


def _keys(text: str) -> list[str]:
    return list(dict.fromkeys(match[1] for match in _KEY.finditer(text)))


def _beside(key: str, text: str) -> list[str]:
    """The keys of the first object in the text with this key."""
    at = text.find(f'"{key}"')
    start, end = text.rfind("{", 0, max(at, 0)), text.find("}", at)
    return [m[1] for m in _KEY.finditer(text, start, end)] if at >= 0 and 0 <= start < end else []


def means_right(name: str) -> bool:
    """Whether a key or a label of this name is true for a right response: ``is_correct``."""
    words = [squashed(part) for part in name.split("_")]
    adverb = len(words) == 2 and words[0].endswith("ly")
    return squashed(name) in _RIGHT or (adverb and words[1] in _RIGHT)


def is_score(name: str) -> bool:
    """Whether a key or a label of this name has more for a better response: ``Score``."""
    return squashed(name) in _SCORES


def described(schema: Mapping[str, Any]) -> str:
    """What the descriptions of a JSON schema say."""
    own = schema.get("properties") or {}
    return "\n".join(
        str(part["description"]) for part in (schema, *own.values()) if "description" in part
    )


def schema_shape(schema: Mapping[str, Any]) -> JsonShape | None:
    """The object of a JSON schema."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    verdicts = [key for key in properties if squashed(key) in _VERDICT]
    sure = [key for key in verdicts if squashed(key) not in _PREFER] or verdicts
    sure = sure or [k for k, v in properties.items() if v.get("type") == "boolean" or "enum" in v]
    if len(sure) != 1:
        return None
    [key] = sure
    own = properties[key]
    values = ", ".join(json.dumps(v, ensure_ascii=False) for v in own.get("enum") or ())
    keys = tuple(properties)
    return JsonShape(keys, key, values.replace(", ", " or "), own.get("type") == "boolean",
                     own.get("type") == "string", _degrees(list(keys), key, ""))  # fmt: skip


def _known(key: str) -> bool:
    return bool(
        squashed(key) in _VERDICT
        or _REASON.search(key)
        or _ANSWER.search(key)
        or _DEGREE.search(key)
    )


_HAS: Final = (
    r"(?:[:：(（]|(?:key |field )?,?\s*(?:and |with )?(?:a |the |its )?values? (?:is |of |being )?)"
)
"""What joins a key to its values."""


def _values(key: str, text: str) -> str:
    """What stands behind the key, up to the end of its line or the next key."""
    found = ""
    for match in re.finditer(rf"[\"'“`]{re.escape(key)}[\"'”`]\s*{_HAS}([^\n]{{0,200}})", text):
        following = _KEY.search(match[1])
        found = match[1][: following.start()] if following else match[1]
        if found.strip(" ,}]'\"."):
            return found
    return found


def _degrees(keys: list[str], verdict: str, text: str) -> dict[str, int]:
    top = _TOP.search(text)
    degrees = {key: 100 for key in keys if key != verdict and _DEGREE.search(key)}
    scores = [key for key in degrees if not _is_confidence(key)]
    if scores and not top:
        raise ContractError(f"the prompt does not say which numbers the key {scores[0]!r} may have")
    return degrees | (dict.fromkeys(scores, int(next(filter(None, top.groups())))) if top else {})
