# Which lines the unit tests and the end to end tests run, by file.
#   make coverage              a few minutes; exit status 1 below 95 % of the
#                              lines of src/, or 90 % of those of one file
#   make coverage COVERAGE=unit  or e2e: only these
# It takes no ROUNDS=, SECONDS= or SEED=.
COVERAGE  ?= unit e2e
# Workers of web servers write what they counted as they end: as another user,
# below a folder of sources that may be closed to them, and without our
# environment.  So all of it lies in a folder of /tmp, and stays for next time.
coverage_c := -O0 -g --coverage
.PHONY: coverage coverage-programs
coverage-programs: all programs-of-unit $(for_e2e)
coverage:
	@mkdir -p '$(BUILD)'; place=$$(readlink '$(BUILD)/coverage'); \
	test -n "$$place" -a -O "$$place" || { \
		place=$$(mktemp -d /tmp/idem-coverage-XXXXXX) && \
		chmod 755 "$$place" && ln -sfn "$$place" '$(BUILD)/coverage'; }; \
	$(CC) -O2 -c -o "$$place/dump.o" tests/coverage/dump.c && \
	$(MAKE) --no-print-directory -j$(NJOBS) BUILD="$$place" \
		OPT='$(coverage_c)' SAN='$(coverage_c) -DIDEM_FAILPOINTS' \
		CPPFLAGS= LIBS="-Wl,--wrap=_exit $$place/dump.o $(LIBS)" \
		coverage-programs && \
	BUILD='$(BUILD)' $(PYTHON) tests/coverage/coverage.py "$$place" \
		$(COVERAGE)
