"""Write train/data/policy.csv, the labelled answers that `make demo` fine-tunes on, and readings.

    python scripts/policy_rows.py

``train/data/policy_readings.jsonl`` has the reading of each answer: quote, English, room, reason.

The information desk of a culture centre tells visitors which room an event is in. Its policy: an
answer is correct if it leads to the room in the programme, in Chinese or English and whatever else
it says. All words were written for this file.

No answer says by itself whether it is correct: each room is named as often in a right answer as in
a wrong one.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

OUT: Final = Path(__file__).parents[1] / "train" / "data" / "policy.csv"
READINGS: Final = OUT.with_name("policy_readings.jsonl")
COLUMNS: Final = ("id", "question", "reference", "response", "label", "lang")
SEED: Final = 1
_SAME: Final = 3
"""Answers of either label to a question in its language; one of either is in the other language."""

ROOMS: Final = {
    "en": ("Red Room", "Blue Room", "Green Room", "Yellow Room", "White Room", "Black Room"),
    "zh": ("红厅", "蓝厅", "绿厅", "黄厅", "白厅", "黑厅"),
}
"""The names of the same rooms, in the same order."""
_BETWEEN: Final = {"en": ", ", "zh": "、"}
EVENTS: Final = {
    "en": (
        "the chess club, the choir rehearsal, the tea evening, the drawing class, the yoga class, "
        "the book circle, the film night, the dance course, the poetry reading, the cooking class, "
        "the repair café, the sewing group, the jazz concert, the photo show, the puppet play, "
        "the first-aid course, the parents' talk, the guitar lesson, the quiz night, "
        "the flea market, the science hour, the garden club, the computer course, "
        "the children's party, the history lecture, the pottery class, the drum workshop, "
        "the magic show, the members' meeting, the bird talk"
    ),
    "zh": (
        "书法班、京剧排练、茶话会、国画课、太极课、读书会、电影放映、舞蹈班、诗歌朗诵、烹饪课、旧物修理、剪纸组、民乐演出、摄影展、"
        "木偶戏、急救培训、家长讲座、古筝课、知识竞赛、跳蚤市场、科学课堂、园艺社、电脑班、亲子聚会、历史讲座、陶艺课、打鼓班、"
        "魔术表演、会员大会、观鸟讲座"
    ),
}
DAYS: Final = {
    "en": "on Monday, on Tuesday, on Wednesday, on Thursday, on Friday, on Saturday, on Sunday",
    "zh": "周一、周二、周三、周四、周五、周六、周日",
}
QUESTIONS: Final = {
    "en": (
        "Where is {event} {day}?",
        "Which room is {event} in {day}?",
        "Where do I go for {event} {day}?",
        "In which room does {event} take place {day}?",
    ),
    "zh": (
        "{day}的{event}在哪里？",
        "{day}的{event}在哪个厅？",
        "参加{day}的{event}要去哪里？",
        "{day}的{event}在什么地方举行？",
    ),
}
ONE_ROOM: Final = {
    "en": """
It is in the {room}.
Please go to the {room}.
You will find it in the {room}.
The {room}, as always.
This time it is the {room}.
Come to the {room}; the door is open.
We meet in the {room}.
That would be the {room}.
I have it down for the {room}.
Take the stairs, and then the {room} is on your left.
Look for the sign of the {room}.
Hello! They are in the {room}.
The {room} is where they meet.
The programme says the {room}.
They have booked the {room} for it.
Go past the lift and into the {room}.
See you in the {room}!
It starts at six in the {room}.
The {room} is the place, right beside the café.
Your ticket is for the {room}.
You can leave your coat here and walk on to the {room}.
Follow the arrows to the {room}.
The {room}, and please be there early.
Just ask for the {room}; everybody knows it.
Thanks for asking: the {room}.
Everyone gathers in the {room} a little before.
It has the {room} all evening.
My list has it in the {room}.
The group is waiting in the {room}.
Sure, head for the {room}.
""",
    "zh": """
在{room}。
请到{room}。
您去{room}就能找到。
还是老地方，{room}。
这次在{room}。
请来{room}，门开着。
我们在{room}见面。
应该是{room}。
我这里记的是{room}。
上楼梯，左手边就是{room}。
请看写着{room}的牌子。
您好！他们在{room}。
大家都在{room}集合。
节目单上写的是{room}。
他们订的是{room}。
过了电梯，走进{room}就是。
{room}见！
六点在{room}开始。
地点是{room}，就在咖啡店旁边。
您的票是{room}的。
外套可以放在这里，然后去{room}。
沿着箭头走到{room}。
{room}，请早点到。
问一下{room}就行，大家都知道。
谢谢询问，是{room}。
开始前大家会先到{room}。
整个晚上都用{room}。
我的单子上是{room}。
小组正在{room}等着。
好的，请往{room}走。
""",
}
GLOSSES: Final = """
In the {room}.
Please go to the {room}.
Go to the {room} and you will find it.
The old place as always, the {room}.
This time in the {room}.
Please come to the {room}, the door is open.
We meet in the {room}.
It should be the {room}.
I have noted the {room} here.
Up the stairs, on the left is the {room}.
Please look at the sign that says {room}.
Hello! They are in the {room}.
Everybody gathers in the {room}.
The programme says the {room}.
They have booked the {room}.
Past the lift, walk into the {room} and you are there.
See you in the {room}!
It starts at six in the {room}.
The place is the {room}, right beside the café.
Your ticket is for the {room}.
You can leave your coat here, and then go to the {room}.
Follow the arrows to the {room}.
The {room}, please come early.
Just ask for the {room}, everybody knows it.
Thank you for asking, it is the {room}.
Before the start everybody goes to the {room} first.
The {room} is used the whole evening.
My list says the {room}.
The group is waiting in the {room}.
Sure, please go towards the {room}.
"""
"""The Chinese answers in English, in the same order."""


def rows() -> Iterator[dict[str, str]]:
    """The rows of the file, question by question."""
    rng = random.Random(SEED)
    for lang in ("en", "zh"):
        events, days = (words[lang].split(_BETWEEN[lang]) for words in (EVENTS, DAYS))
        asked = [(event, day) for event in events for day in rng.sample(days, 2)]
        deck: list[int] = []
        for number, (event, day) in enumerate(asked):
            deck = deck or rng.sample(range(len(ROOMS[lang])), len(ROOMS[lang]))
            room = deck.pop()
            question = rng.choice(QUESTIONS[lang]).format(event=event, day=day)
            for letter, (response, label) in zip(
                "abcdefgh", _answers(room, lang, rng), strict=True
            ):
                reference = ROOMS[lang][room]
                cells = (f"{lang}-{number:02}{letter}", question, reference, response, label, lang)
                yield dict(zip(COLUMNS, cells, strict=True))


def _answers(room: int, lang: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Answers with their labels, each with another sentence; the wrong rooms differ."""
    wrong = rng.sample([n for n in range(len(ROOMS[lang])) if n != room], _SAME + 1)
    another = "zh" if lang == "en" else "en"
    for written, count in ((lang, _SAME), (another, 1)):
        texts = rng.sample(ONE_ROOM[written].split("\n")[1:-1], 2 * count)
        for _ in range(count):
            yield _say(texts.pop(), ROOMS[written][room]), "correct"
            yield _say(texts.pop(), ROOMS[written][wrong.pop()]), "incorrect"


def readings() -> Iterator[dict[str, object]]:
    """A reading of each different answer of the file, as ``data_gen.readings`` has them."""
    seen = set[str]()
    for row in rows():
        asked = f"{row['question']}\0{row['response']}"
        sha = hashlib.sha256(asked.encode()).hexdigest()[:16]
        if sha in seen:
            continue
        seen.add(sha)
        said = row["response"]
        named = [room for rooms in ROOMS.values() for room in rooms if room in said]
        wanted, given = (_english(room) for room in (row["reference"], *named))
        why = f"the programme and the answer both name the {given}"
        if wanted != given:
            why = f"the programme has the {wanted}, the answer names the {given}"
        yield {
            "set": "policy", "id": row["id"], "sha": sha, "verdict": row["label"],
            "spans": [[0, len(said)]], "glosses": [_gloss(said, named[0])],
            "answer": named[0], "why": why, "by": "construction",
        }  # fmt: skip


def _english(room: str) -> str:
    return room if room in ROOMS["en"] else ROOMS["en"][ROOMS["zh"].index(room)]


def _gloss(said: str, room: str) -> str:
    """The English of a Chinese answer; empty for an English one."""
    if room in ROOMS["en"]:
        return ""
    written = ONE_ROOM["zh"].split("\n").index(said.replace(room, "{room}"))
    return GLOSSES.split("\n")[written].format(room=_english(room))


def _say(text: str, room: str) -> str:
    said = text.format(room=room)
    return said[0].upper() + said[1:]


if __name__ == "__main__":
    with OUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows())
    with READINGS.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(reading, ensure_ascii=False) + "\n" for reading in readings())
