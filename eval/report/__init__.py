"""What an evaluation says: ``report.json``, and one page for any judged file, labelled or not.

``labelled`` and ``answers`` are the values behind ``report.json``. The page takes ``Results``, from
a run (``results``) or from files that ``gradegpt judge`` wrote (``judged``): ``numbers`` are its
tables and plots, ``rows`` its list of items, ``page`` puts them into the template.
"""
