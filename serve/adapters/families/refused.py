"""Prompts that ask for a score, a preference or a check without a reference answer.

They are recognised only to tell callers why, instead of a meaningless verdict.
"""

from __future__ import annotations

from typing import Final

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_NEVER: Final = Words("", "")
_GRADE: Final = (
    "a judge of correctness gives no grade; for correct or incorrect, send question, reference and "
    "response to POST /v1/judge"
)
_NO_REFERENCE: Final = (
    "the prompt has no reference answer, and nothing is judged without one; use a prompt with a "
    "reference, or POST /v1/judge"
)
_PREFERENCE: Final = (
    "the prompt ranks two responses, but each is judged separately here; judge both against the "
    "reference answer, and compare"
)
_RUBRIC: Final = (
    "a rubric's criterion is no reference answer; use a judge that reads rubrics for this prompt"
)

_INSTRUCTION = (
    r"###The instruction to evaluate:", "{question}", r"###Response to evaluate:", "{response}",
)  # fmt: skip
_HISTORY = (r"\[Conversation History\]", "{question}", r"\[AI Answer\]", "{response}")

ADAPTERS = (
    Adapter(
        name="prometheus_absolute",
        callers="Prometheus, absolute grading",
        frames=(
            Frame(
                *_INSTRUCTION,
                r"###Reference Answer[^:]{0,20}:",
                "{reference}",
                r"###Score Rubrics:",
            ),
            Frame(*_INSTRUCTION, r"###Score Rubrics:"),
        ),
        tags=(r"\[RESULT\]",),
        write=_NEVER,
        refuses=_GRADE,
        example="""Grade by the rubric: [RESULT] and an integer between 1 and 5.
###The instruction to evaluate:
{question}
###Response to evaluate:
{response}
###Reference Answer (Score 5):
{reference}
###Score Rubrics:
Is it right?
###Feedback:""",
    ),
    Adapter(
        name="prometheus_relative",
        callers="Prometheus, relative grading",
        frames=(
            Frame(
                r"###Instruction:",
                "{question}",
                r"###Response A:",
                "{response}",
                r"###Response B:",
                "{other}",
                r"###Feedback:",
            ),
        ),
        tags=(r"\[RESULT\]",),
        write=_NEVER,
        refuses=_PREFERENCE,
        example="""Which is better? [RESULT] and A or B.
###Instruction:
{question}
###Response A:
{response}
###Response B:
Another one.
###Reference Answer:
{reference}
###Feedback:""",
    ),
    Adapter(
        name="arena_hard",
        callers="Arena-Hard",
        frames=(
            Frame(
                r"<\|User Prompt\|>",
                "{question}",
                r"<\|The Start of Assistant A's Answer\|>",
                "{response}",
                r"<\|The End of Assistant A's Answer\|>",
                "{other}",
                r"<\|The End of Assistant B's Answer\|>",
            ),
        ),
        tags=(r"\[\[A>>B\]\]",),
        write=_NEVER,
        refuses=_PREFERENCE,
        example=(
            "Which is better, from [[A>>B]] to [[B>>A]]?",
            """<|User Prompt|>
{question}

<|The Start of Assistant A's Answer|>
{response}
<|The End of Assistant A's Answer|>

<|The Start of Assistant B's Answer|>
{reference}
<|The End of Assistant B's Answer|>""",
        ),
    ),
    Adapter(
        name="healthbench",
        callers="simple-evals HealthBench",
        frames=(
            Frame(r"# Conversation", "{response}", r"# Rubric item", "{rubric}", r"# Instructions"),
        ),
        tags=(r"\"criteria_met\"",),
        write=_NEVER,
        refuses=_RUBRIC,
        example="""Does the last turn meet the rubric item?
# Conversation
{response}
# Rubric item
{reference}
# Instructions
Return JSON with "criteria_met".""",
    ),
    Adapter(
        name="critiquellm",
        callers="CritiqueLLM, single responses and pairs",
        frames=(
            Frame(
                r"用户的提问[:：]",
                "{question}",
                r"\[助手的答案开始\]",
                "{response}",
                r"\[助手的答案结束\]",
            ),
            Frame(
                r"用户的提问[:：]",
                "{question}",
                r"\[助手1的答案开始\]",
                "{response}",
                r"\[助手2的答案结束\]",
            ),
        ),
        write=_NEVER,
        refuses=_GRADE,
        example="""[数学]
用户的提问：{question}
[参考答案开始]
{reference}
[参考答案结束]
[助手的答案开始]
{response}
[助手的答案结束]""",
    ),
    Adapter(
        name="evalscope_numeric",
        callers="evalscope LLMJudge with numeric scores",
        frames=(Frame(r"\[Question\]", "{question}", r"\[Response\]", "{response}"),),
        tags=(r"scale of 0",),
        write=_NEVER,
        refuses=_NO_REFERENCE,
        example="""Rate the response on a scale of 0 to 1.

[Question]
{question}

[Response]
{response}""",
    ),
    Adapter(
        name="open_instruct_quality",
        callers="open-instruct general quality, with and without a reference",
        frames=(
            Frame(*_HISTORY, r"\[Reference Gold Answer\]", "{reference}", r"\[Your judgement\]"),
            Frame(*_HISTORY, r"\[Your judgement\]"),
        ),
        tags=(r"scale of 1 to 10", r"\"SCORE\""),
        write=_NEVER,
        refuses=_GRADE,
        example="""Score the answer on a scale of 1 to 10.
[Conversation History]
{question}
[AI Answer]
{response}
[Reference Gold Answer]
{reference}
[Your judgement]
As JSON: {"SCORE": "5"}""",
    ),
    Adapter(
        name="verl_grm",
        callers="verl reward loop, score from 1 to 10",
        frames=(
            Frame(r"Problem:", "{question}", r"Solution:", "{response}", r"Please evaluate how"),
        ),
        tags=(r"\bproposed solution\b", r"score from 1 to 10"),
        write=_NEVER,
        refuses=_NO_REFERENCE,
        example="""A problem and a proposed solution.
Problem:
{question}
Solution:
{response}
Please evaluate how good it is, as a score from 1 to 10.""",
    ),
    Adapter(
        name="verl_critic",
        callers="verl generative reward, a critique without a reference",
        frames=(
            Frame(
                r"\[Math Problem\]", "{question}", r"\[AI Solution\]", "{response}", r"Your task is"
            ),
        ),
        tags=(r"\\boxed",),
        write=_NEVER,
        refuses=_NO_REFERENCE,
        example=r"""A problem and a solution:
[Math Problem]
{question}
[AI Solution]
{response}
Your task is to say True or False in \boxed{}.""",
    ),
)
