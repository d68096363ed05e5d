"""The report of an evaluation: ``report.json``, and a page for any judged file, labelled or not.

``results`` holds judged rows, of a run or of files that ``gradegpt judge`` wrote. ``numbers``
measures them; ``page`` is the page, and ``replaced`` compares two judges.
"""
