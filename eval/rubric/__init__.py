"""Make rubrics from reference solutions, check them, grade by them, and compare with humans."""
