"""The report of an evaluation: ``report.json``, and a page for any judged file, labelled or not.

``results`` holds judged rows, of a run or of files that ``gradegpt judge`` wrote (``judged``).
``numbers`` measures them; ``content`` is ``report.json``, ``page`` the page, whose list of items is
made by ``rows``, and ``replaced`` compares two judges.
"""
