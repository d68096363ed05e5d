"""GradeGPT's own prompt, as ``gradegpt.chain.build_prompt`` writes it, and the paper's form of it.

The reply is the chain; its parser reads the last ``<Yes>`` or ``<No>``.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradegpt.chain import NO, YES, defuse, parse_prompt
from gradegpt.schema import Item, Judgement, Message, Outcome, Verdict

from ..adapter import Adapter, item_of
from ..frame import Frame
from ..reply import Reply, placed, reason

_OWN = """Question: <question>
{question}
</question>
Reference Answer: <reference>
{reference}
</reference>
Model Response: <response>
{response}
</response>
Judgment Result:"""

_FRAMES = Frame(
    r"Question: <question>\n", "{question}", r"\n</question>\n",
    r"Reference Answer: <reference>\n", "{reference}", r"\n</reference>\n",
    r"Model Response: <response>\n", "{response}", r"\n</response>\nJudgment Result:",
)  # fmt: skip
_PAPER = Frame(
    r"Question:(?! <question>)", "{question}", r"Reference Answer:", "{reference}",
    r"Model Response:", "{response}", r"Judgment Result:",
)  # fmt: skip


def chain_reply(judgement: Judgement, _: Mapping[str, str]) -> Reply:
    """The chain where there is one, else its tag; no tag where there is no verdict."""
    if judgement.outcome is not Outcome.JUDGED:
        # A reason may quote the model; a tag in it must not be read as a verdict.
        why = f"{judgement.outcome.value}, {defuse(judgement.reason)}"
        return Reply(f"No verdict was reached ({why}).")
    tag = YES if judgement.verdict is Verdict.CORRECT else NO
    return Reply(tag, judgement.chain, reason(judgement))


def _item(fields: Mapping[str, str]) -> Item:
    """The item of a prompt, which may have several references, each in its own frame."""
    prompt = Message(role="user", content=placed(_OWN, fields))
    return parse_prompt([prompt]) or item_of(fields)


ADAPTERS = (
    Adapter(
        name="gradegpt",
        callers="GradeGPT, gradegpt.chain.build_prompt",
        frames=(_FRAMES,),
        write=chain_reply,
        item=_item,
        example=_OWN,
    ),
    Adapter(
        name="cmmath",
        callers="the prompt of the CMMaTH paper (appendix E)",
        frames=(_PAPER,),
        write=chain_reply,
        example="""Question: {question}
Reference Answer: {reference}
Model Response: {response}
Judgment Result:""",
    ),
)
