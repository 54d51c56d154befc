# The C code is read by programs that do not run it.
#   make analyse        gcc -fanalyzer, cppcheck, clang --analyze and clang-tidy
#   make analyse-short  the first two, over src and fcgi
# Both first look for faults that are planted in tests/analyse/planted.  Neither
# takes ROUNDS=, SECONDS= or SEED=: there is no chance in it.
proofs += analyse-short

.PHONY: analyse analyse-short
analyse analyse-short: export ANALYSE_CPP = $(IDEM_CPP)
analyse analyse-short: export ANALYSE_C = $(IDEM_C)
analyse-short:
	@BUILD='$(BUILD)' $(PYTHON) tests/analyse/analyse.py --short
analyse:
	@tools/deps.sh analyse
	@BUILD='$(BUILD)' $(PYTHON) tests/analyse/analyse.py
