"""The kinds of the words in labels."""

from __future__ import annotations

from typing import Final

_KINDS: Final = {
    "T": "reference references ref gt truth gold golden key oracle expected target targets ideal "
         "expert scheme groundtruth",
    "t": "ground true standard correct right official accept accepted acceptable verified "
         "canonical known authoritative human teacher teachers annotated trusted desired "
         "examiner examiners instructor author possible",
    "R": "response responses reply replies candidate candidates student students submission "
         "prediction predictions predicted pred generation attempt completion hypothesis rollout "
         "guess replied responded answered wrote said",
    "p": "model models provided actual",
    "m": "submitted system systems assistant assistants ai llm llms generated "
         "attempted user users proposed extracted taker takers testtaker examinee respondent "
         "contestant contestants chatbot bot agent solver learner pupil pupils trainee tested "
         "evaluated participant participants machine got",
    "A": "answer answers solution solutions",
    "O": "output outputs result results",
    "x": "option choice value label text work statement",
    "l": "list content set",
    "c": "choices options format",
    "q": "asked question questions problem problems query q quest exercise stem",
    "w": "task instruction input prompt",
    "f": "final short own full written textual new the a an this your its given original here "
         "following corresponding complete start begin beginning heres below one current "
         "marking test only",
    "!": "please judge grade evaluate assess compare give provide write read solve consider "
         "follow check determine verify explain return if when and or not how what why which step "
         "criteria rule rules do does ensure note notes i extract ignore focus treat identify use "
         "accept allow avoid make mark consider handle disregard omit report state say decide "
         "review examine analyze analyse match find remember conclude finish put keep "
         "produce print choose select assign pick think respond",
}  # fmt: skip
"""The kinds of words: of a reference (``T`` also alone), of a response (``R`` also alone), its
owner (``p``: or a reference's, as a model answer), answers, other things, questions, tasks, words
without weight, and words of a sentence."""
_ELSEWHERE: Final = {
    "q": "frage aufgabe pregunta pergunta pytanie domanda întrebare întrebarea вопрос 질문 문제 "
         "質問 問題",
    "A": "antwort lösung respuesta solución resposta solução réponse risposta soluzione odpowiedź "
         "răspuns răspunsul ответ 답변 답 回答 答え 解答",
    "T": "référence referencia referência referenz musterlösung musterantwort riferimento 정답 "
         "模範 正解",
    "t": "richtige korrekte correcta correcto correta correto correcte bonne attendue esperada "
         "corretta prawidłowa poprawna corect corectă правильный эталонный "
         "올바른",
    "R": "candidate candidata étudiant étudiante élève estudiante estudiante alumno aluno "
         "estudante studente studentului student ucznia schüler schülers студента 응답 학생",
    "p": "modelo modèle modell modells modello modelu modelului модели 모델",
    "f": "la le des el os die der das des il l и",
}  # fmt: skip
"""The same in other languages, without their grammar."""
KIND: Final = {
    word: kind for table in (_ELSEWHERE, _KINDS) for kind, words in table.items()
    for word in words.split()
}  # fmt: skip
ENGLISH: Final = frozenset(word for words in _KINDS.values() for word in words.split())
