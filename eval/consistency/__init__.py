"""Whether a judge gives the same verdict to the same answer in another form."""
