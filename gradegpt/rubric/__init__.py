"""Grading by a rubric that was made from a reference solution (ARB, section 4.4).

``form`` has the rubric and its text, ``grading`` a grader's text by criterion, ``prompts`` the
prompts for both, ``quality`` the checks of a rubric without a model.
"""

from gradegpt.rubric.form import TOTAL as TOTAL
from gradegpt.rubric.form import Criterion as Criterion
from gradegpt.rubric.form import ParsedRubric as ParsedRubric
from gradegpt.rubric.form import Rubric as Rubric
from gradegpt.rubric.form import parse_rubric as parse_rubric
from gradegpt.rubric.form import render_rubric as render_rubric
from gradegpt.rubric.grading import HALLUCINATED as HALLUCINATED
from gradegpt.rubric.grading import Award as Award
from gradegpt.rubric.grading import Fault as Fault
from gradegpt.rubric.grading import Grading as Grading
from gradegpt.rubric.grading import ParsedGrading as ParsedGrading
from gradegpt.rubric.grading import parse_grading as parse_grading
from gradegpt.rubric.grading import render_grading as render_grading
from gradegpt.rubric.prompts import grade_prompt as grade_prompt
from gradegpt.rubric.prompts import make_prompt as make_prompt
from gradegpt.rubric.quality import Defect as Defect
from gradegpt.rubric.quality import Quality as Quality
from gradegpt.rubric.quality import check_rubric as check_rubric
