"""Items that the rules decide, and the prompts of callers with them."""

from __future__ import annotations

from gradegpt.core.schema import Item, Message
from serve.templates import TEMPLATES


def sums(number: int) -> list[tuple[Item, bool]]:
    """Additions, every other one answered wrongly, and whether each is right."""
    made = []
    for n in range(number):
        right = n % 2 == 0
        answer = 3 * n + 7 if right else 3 * n + 8
        item = Item(
            id=f"sum-{n}",
            question=f"What is {n} + {2 * n + 7}?",
            reference=(str(3 * n + 7),),
            response=f"{n} + {2 * n + 7} can be added up. The answer is {answer}.",
        )
        made.append((item, right))
    return made


def prompt_of(family: str, item: Item) -> tuple[Message, ...]:
    """The family's prompt around ``item``."""
    [template] = [template for template in TEMPLATES if template.name == family]
    return template.prompt(item.question, item.reference[0], item.response)
