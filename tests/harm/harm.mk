# `make harm` breaks the disk, the files and the limits under a store in use.
# `make e2e`, and so `make test`, runs these tests among the others.
.PHONY: harm
harm: all $(for_e2e)
	@rm -f $(BUILD)/proof/harm*
	@BUILD='$(BUILD)' $(PYTHON) tests/e2e/run.py --name harm test_harm_
