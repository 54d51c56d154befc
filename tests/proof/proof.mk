# `make proof-table` takes what the last run of each proof counted (all, or
# PROOFS="torture fuzz") into docs/proof.tsv and README's table.
.PHONY: proof-table
proof-table:
	@BUILD='$(BUILD)' $(PYTHON) tests/proof/table.py take $(PROOFS)
