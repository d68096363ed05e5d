"""What is wrong with the answers that were judged wrong, in the categories of ATLAS, table 6."""
