"""data_gen: questions, references and responses -> chain-labelled training rows."""
