"""Ask a running judge by ``openai``'s client: ``python scripts/ask.py http://127.0.0.1:8000/v1``."""

from __future__ import annotations

import sys

from openai import OpenAI

from gradegpt.chain import PromptSettings, build_prompt
from gradegpt.schema import Item

ITEMS = (
    Item(
        question="一个长方形的长是 12 厘米，宽是 7 厘米，它的周长是多少厘米？",
        reference="38",
        response="长方形的周长等于长与宽之和的两倍。\n(12+7)×2=19×2=38\n所以，答案是38厘米。",
    ),
    Item(
        question="Which gas do plants take in during photosynthesis?\n"
        "A. oxygen\nB. nitrogen\nC. carbon dioxide\nD. hydrogen",
        reference="C",
        response="Plants release oxygen in daylight.\n"
        "Leaves take gas in through the stomata.\nSo the answer is option A.",
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
            f"\nresponse : {item.response.splitlines()[-1]}\n"
            f"{reply.choices[0].message.content}\n"
            f"[{verdict}, by {method}: {reason}]\n"
        )


if __name__ == "__main__":
    main()
