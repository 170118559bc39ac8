# SPDX-License-Identifier: GPL-2.0
# One entry for everything: module, library, tool, demo, tests, checks. What is
# generated or fetched lives under build/. `make help` lists the targets.

MAKEFLAGS += --no-print-directory
VM := selftests/vm
B := $(CURDIR)/build
PREFIX ?= /usr/local
DESTDIR ?=

# The kernel to build against: the one given, the running one's headers, else
# the test kernel (built on first use).
RUNNING := $(wildcard /lib/modules/$(shell uname -r)/build)
ifneq ($(filter all module modules_install install,$(or $(MAKECMDGOALS),module)),)
ifndef KDIR
KDIR := $(or $(RUNNING),$(addsuffix /build,$(shell $(VM)/kernel.sh fast)))
endif
KREL := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
MOUT := $(or $(INA_OUT),$(B)/kmod-$(KREL)$(if $(filter 1,$(INA_KUNIT)),-kunit))
endif
KARGS = -C $(KDIR) M=$(MOUT) $(if $(W),W=$(W)) $(if $(C),C=$(C)) $(if $(INA_KUNIT),INA_KUNIT=$(INA_KUNIT))

# Parts with a Makefile of their own.
USER_PARTS := $(patsubst %/Makefile,%,$(wildcard userlib/Makefile netlink_tool/Makefile))
TEST_PARTS := $(patsubst %/Makefile,%,$(wildcard selftests/Makefile))

.PHONY: all
all: module user

.PHONY: module
module:
	@test -n "$(KREL)" || { echo "no kernel to build against in '$(KDIR)': set KDIR="; exit 1; }
	@$(VM)/mirror.sh $(MOUT)
	$(MAKE) $(KARGS) modules

.PHONY: user
user: $(USER_PARTS:%=user-%)

.PHONY: programs
programs: user $(TEST_PARTS:%=user-%)
	$(MAKE) -C selftests/bench O=$(B)/bench all

.PHONY: peers
peers: user
	$(MAKE) -C selftests/bench/peers O=$(B)/peers USERLIB=$(B)/userlib all

user-%:
	$(MAKE) -C $* O=$(B)/$* PREFIX=$(PREFIX) all

# The tool and the test programs are built on the library.
user-netlink_tool user-selftests: $(filter user-userlib,$(USER_PARTS:%=user-%))

.PHONY: demo
demo:
	@$(VM)/deps.sh
	@$(VM)/demo.sh

.PHONY: test
test:
	@$(VM)/deps.sh
	@$(VM)/test.sh

# SECONDS is a word of the shell's own: it goes there by another name.
.PHONY: chaos
chaos:
	@$(VM)/deps.sh
	@INA_CHAOS_SECONDS=$(or $(SECONDS),600) INA_SEED=$(or $(SEED),$(INA_SEED)) $(VM)/chaos.sh

# What needs no kernel of ours.
.PHONY: test-host
test-host:
	@$(VM)/deps.sh
	@$(MAKE) -C selftests/plan O=$(B)/selftests/plan check

.PHONY: test-cross
test-cross:
	@$(VM)/deps.sh cross
	@$(VM)/cross.sh

.PHONY: bench
bench:
	@$(VM)/deps.sh bench
	@selftests/bench/bench.sh native $(if $(filter 1,$(QUICK)),quick)
	@selftests/bench/bench.sh peers $(if $(filter 1,$(QUICK)),quick)

.PHONY: bench-sweep
bench-sweep:
	@$(VM)/deps.sh bench
	@selftests/bench/bench.sh sweep $(if $(filter 1,$(QUICK)),quick)

.PHONY: bench-loss bench-paths bench-rates
bench-loss bench-paths bench-rates:
	@$(VM)/deps.sh
	@selftests/bench/bench.sh $(@:bench-%=%) $(if $(filter 1,$(QUICK)),quick)

# Three tables: units of switches as MINA counts them, units of joining switches only, units of
# links. QUICK=1 leaves the recorded results alone.
SIM_OUT = $(if $(filter 1,$(QUICK)),build/results,Documentation/results)
SIM = $(B)/userlib/ina-sim --traces userlib/sim/traces \
	$(if $(filter 1,$(QUICK)),--jobs 300,--rate 12.5G --rate 25G) $(2) \
	$(if $(SEED),--seed $(SEED)) --markdown $(SIM_OUT)/$(1).md \
	--json $(SIM_OUT)/$(1).json --svg $(SIM_OUT)/$(1).svg
.PHONY: sim
sim: user-userlib
	@mkdir -p $(SIM_OUT)
	$(call SIM,sim,--switches every $(if $(filter 1,$(QUICK)),,--growth))
	$(call SIM,sim-joining,--switches joining)
	$(call SIM,sim-link,--limit link --switches every)

.PHONY: check
check:
	@$(VM)/deps.sh check
	@selftests/check/check.sh

.PHONY: install
install: modules_install user
	@for part in $(USER_PARTS); do \
		$(MAKE) -C $$part O=$(B)/$$part DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install || exit; \
	done

.PHONY: modules_install
modules_install: module
	$(MAKE) $(KARGS) $(if $(DESTDIR)$(INSTALL_MOD_PATH),INSTALL_MOD_PATH=$(or $(INSTALL_MOD_PATH),$(DESTDIR)) DEPMOD=true) modules_install
	@$(if $(DESTDIR)$(INSTALL_MOD_PATH),echo "after copying to the target: depmod -a $(KREL)",PATH="$$PATH:/usr/sbin:/sbin" $(or $(DEPMOD),depmod) -a $(KREL))

.PHONY: clean
clean:
	rm -rf $(B)/kmod-* $(B)/userlib $(B)/netlink_tool $(B)/selftests $(B)/bench $(B)/peers $(B)/results $(B)/log $(B)/check

.PHONY: distclean
distclean:
	rm -rf $(B)

.PHONY: help
help:
	@echo "make               module, library and tool (KDIR=... picks the kernel to build against)"
	@echo "make demo          boot a VM and sum a gradient through a tree of kernels"
	@echo "make test          every test in VMs; T=name picks one"
	@echo "                   KERNELS=\"6.1 6.12 7.2\" builds and tests on each of these"
	@echo "make chaos         ten minutes of failures at random, on the fast and the debug kernel"
	@echo "                   SECONDS=600 for how long on each, SEED=n to repeat a run"
	@echo "make test-host     the tests of the planner and of the tool alone that need no VM"
	@echo "make test-cross    KUnit on the other architecture"
	@echo "make bench         ina beside XDP, TCP, UDP, Open MPI and Gloo; writes Documentation/results/"
	@echo "                   QUICK=1 for a few minutes of it; like that of all bench-*, into build/results/"
	@echo "make bench-sweep   sizes of a packet, beside XDP and UDP, and numbers of children; QUICK=1 for less"
	@echo "make bench-loss    goodput against loss, beside TCP; writes Documentation/bench/; QUICK=1 for less"
	@echo "make bench-paths   one to four paths of a fabric, beside TCP and UDP; QUICK=1 for less"
	@echo "make bench-rates   a way that gets narrow, unequal workers, beside TCP; QUICK=1 for less"
	@echo "make sim           MINA's evaluation on a simulated fabric; writes Documentation/results/sim*"
	@echo "                   QUICK=1 for a small one, into build/results/; SEED=n for other jobs"
	@echo "make check         checkpatch, sparse, W=1, kernel-doc, shellcheck, cppcheck, man pages, YAML,"
	@echo "                   tool, install, DKMS, protocol model"
	@echo "make programs      what the tests run in their VMs; peers: what benchmarks compare with"
	@echo "make install       DESTDIR= PREFIX=$(PREFIX) INSTALL_MOD_PATH=; modules_install: the module alone"
	@echo "make clean         remove what was built; distclean also removes the cached kernels"
