# memcheck over the unit tests and over the programs of the end to end tests.
#   make valgrind                 half an hour or more
#   make valgrind VALGRIND=unit   or e2e: only these
#   make valgrind VALGRIND='e2e test_tasks'   and of those, what fits
# Interrupted, it goes on where it was: what ended well is not run again before
# it changes, or with VALGRIND='anew unit e2e'.
# It takes no ROUNDS=, SECONDS= or SEED=.  What a test says of time is not
# judged here: only what memcheck finds.
VALGRIND ?= unit e2e
valgrind_c := -O1 -g
.PHONY: valgrind valgrind-programs
valgrind-programs: all programs-of-unit $(for_e2e)
valgrind:
	@tools/deps.sh analyse
	@mkdir -p '$(BUILD)'; place=$$(readlink '$(BUILD)/valgrind'); \
	test -n "$$place" -a -O "$$place" || { \
		place=$$(mktemp -d /tmp/idem-valgrind-XXXXXX) && \
		chmod 755 "$$place" && ln -sfn "$$place" '$(BUILD)/valgrind'; }; \
	{ test "$$place/self.o" -nt tests/valgrind/self.c || { \
		rm -rf "$$place/built" && \
		$(CC) -O2 -c -o "$$place/self.o" tests/valgrind/self.c; }; } && \
	$(MAKE) --no-print-directory -j$(NJOBS) BUILD="$$place/built" \
		OPT='$(valgrind_c)' SAN='$(valgrind_c) -DIDEM_FAILPOINTS' \
		LIBS="-Wl,--wrap=stat $$place/self.o $(LIBS)" \
		valgrind-programs && \
	BUILD='$(BUILD)' $(PYTHON) tests/valgrind/valgrind.py "$$place" \
		$(VALGRIND)
