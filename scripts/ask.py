"""Ask a running judge by ``openai``'s client: ``python scripts/ask.py http://127.0.0.1:8000/v1``."""

from __future__ import annotations

import sys

from openai import OpenAI

from gradegpt.chains.chain import PromptSettings, build_prompt
from gradegpt.core.schema import Item

ITEMS = (
    Item(
        question="周三的机器人课在哪个厅？",
        reference="蓝厅",
        response="您好！请往蓝厅走，老师在门口等着。",
    ),
    Item(
        question="Which room is the robotics workshop in on Tuesday?",
        reference="Green Room",
        response="They are waiting for you in the White Room, next to the stairs.",
    ),
)


def main() -> None:
    """Send each item as a GradeGPT prompt and print the chain in the reply."""
    client = OpenAI(base_url=sys.argv[1], api_key="none")
    model = client.models.list().data[0].id
    for item in ITEMS:
        messages = [m.model_dump() for m in build_prompt(item, PromptSettings())]
        reply = client.chat.completions.create(model=model, messages=messages)  # type: ignore[arg-type]
        judgement = (reply.model_extra or {}).get("gradegpt", {})
        verdict, method, reason = (judgement.get(key) for key in ("verdict", "method", "reason"))
        sys.stdout.write(
            f"\nquestion : {item.question}\nreference: {item.reference[0]}\n"
            f"response : {item.response}\nreply    : {reply.choices[0].message.content}\n"
            f"[{verdict}, by {method}: {reason}]\n"
        )


if __name__ == "__main__":
    main()
