# Every target sets the machine up first; scripts/setup does nothing where nothing is missing.
.PHONY: all demo test test-quick torture soak lint bench quality fuzz lab picture binaries deb check-deb check-arm64 image check-image setup

setup:
	@scripts/setup

demo: setup ## Show the four documents in four short acts; ACT=2 shows one
	scripts/demo $(ACT)

test: setup ## Run all tests
	scripts/test

all: setup ## Run all checks that there are, also those that a change does not touch; as root, some hour and a half
	scripts/slow-checks --all
	.ci/run

test-quick: setup ## Run the tests of the core and of Apple's names, which build in a fraction of the time
	scripts/test quick

torture: setup ## Torture one beacond for SECONDS (60) with the faults that SEED (1) draws
	swift build --product beacond
	scripts/torture --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1)

soak: deb ## Run beacond as a service for SECONDS (3600) with the faults that SEED (1) draws, and report; as root
	Lab/run-soak --seconds $(or $(SECONDS),3600) --seed $(or $(SEED),1)

lint: ## Check the form of the sources
	scripts/lint

bench: setup ## Measure, as ratios to a plain C reference
	Benchmarks/run

quality: setup ## Measure how right it is, by the recordings beside the checkout
	scripts/quality

fuzz: setup ## Fuzz every decoder, SECONDS each
	Fuzz/run $(or $(SECONDS_EACH),60)

lab: setup ## Run with a real kernel and bluetoothd in a virtual machine
	swift test --package-path Lab --scratch-path .build-lab
	Lab/run

binaries: setup ## Build beacon and beacond for other machines, without Swift's libraries
	scripts/binaries

deb: setup ## Build the Debian packages; ARCH=arm64 those of a Raspberry Pi, as root
	Packaging/make-deb

check-deb: deb ## Install, use, upgrade and remove the packages in a clean Debian, and run the service under systemd; ARCH=arm64 those of a Raspberry Pi, emulated; as root
	scripts/check-packages
	Lab/run-service

check-arm64: ## Compile for 64-bit Arm, and run all tests and recordings there, emulated; as root
	scripts/check-arm64

image: setup ## Build the container image, and the app for Home Assistant; ARCH=arm64 those of a Raspberry Pi, as root
	Packaging/make-image

check-image: image ## Run the image without privileges, and the app beside a stand-in of the supervisor; as root
	scripts/check-image

picture: setup ## Draw the README's picture from a real run
	scripts/picture
