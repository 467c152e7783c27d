# Most targets install missing Debian packages first (scripts/setup).
.PHONY: all demo test test-quick test-porting torture soak lint bench quality fuzz lab picture binaries deb check-deb check-arm64 image check-image check-release setup

setup:
	@scripts/setup

demo: setup ## Demonstrate the four documents in four short acts, without a radio; ACT=2 shows one act
	scripts/demo $(ACT)

test: setup ## Run all tests
	scripts/test

all: setup ## Run all checks, also those whose sources have not changed; as root, about an hour and a half
	scripts/slow-checks --all
	.ci/run

test-quick: setup ## Run the tests of the core and of the Apple modules, which build in a fraction of the time
	scripts/test quick

test-porting: ## Run the tests of the port of iOS code, which is a separate package with swift-syntax
	swift test --package-path Porting --explicit-target-dependency-import-check error

torture: setup ## Run one beacond for SECONDS (60) with random faults from SEED (1)
	swift build --traits Gateway --product beacond
	scripts/torture --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1)

soak: deb ## Run the beacond service in a virtual machine for SECONDS (3600) with random faults from SEED (1), and write a report; as root
	Lab/run-soak --seconds $(or $(SECONDS),3600) --seed $(or $(SEED),1)

lint: ## Check the formatting and the imports of the sources
	scripts/lint

bench: setup ## Measure the speed, as ratios to a plain C reference
	Benchmarks/run

quality: setup ## Measure the accuracy on recordings and simulations
	scripts/quality

fuzz: setup ## Fuzz every decoder for SECONDS_EACH (60)
	Fuzz/run $(or $(SECONDS_EACH),60)

lab: setup ## Test with a real kernel and bluetoothd in a virtual machine
	swift test --package-path Lab --scratch-path .build-lab
	Lab/run

binaries: setup ## Build release versions of beacon and beacond that run on machines without Swift; ARCH=arm64 for 64-bit Arm, as root
	scripts/binaries

deb: setup ## Build the Debian packages; ARCH=arm64 for a 64-bit Raspberry Pi, as root
	Packaging/make-deb

check-deb: deb ## Install, use, upgrade and remove the packages in a clean Debian, and run the service under systemd; ARCH=arm64 emulates a 64-bit Raspberry Pi; as root
	scripts/check-packages
	Lab/run-service

check-arm64: ## Compile for 64-bit Arm, and run all tests and recordings emulated; as root
	scripts/check-arm64

image: setup ## Build the container image and the app for Home Assistant; as root; ARCH=arm64 for a 64-bit Raspberry Pi
	Packaging/make-image

check-image: image ## Run the image without privileges, and the app with a stand-in for its supervisor; as root
	scripts/check-image

check-release: deb image ## Install from a signed apt repository, pull from a registry, check the app's repository, and build the same bytes twice; as root
	scripts/check-apt
	scripts/check-registry
	scripts/check-store
	scripts/check-reproducible

picture: setup ## Draw the README's picture from a real run
	scripts/picture
