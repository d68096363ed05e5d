"""The report of an evaluation: ``report.json``, and a page for any judged file, labelled or not.

``labelled`` and ``answers`` are the values behind ``report.json``. The page takes ``Results``, from
a run (``results``) or from files that ``gradegpt judge`` wrote (``judged``): ``numbers`` makes its
tables and plots, ``rows`` its list of items, ``page`` fills the template with them.
"""
