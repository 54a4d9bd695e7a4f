# What there is to run. `just` lists it; each recipe is one script or one cargo command.

[private]
default:
    @{{just_executable()}} --list --unsorted

# Start the service with a sandbox, the bank simulator and a demo partner
serve *options:
    cargo run --release -- serve {{options}}

# Play a partner's first day against a server of its own
demo *options:
    scripts/demo {{options}}

# Run the tests of the domain and of the use cases against mocked ports: no database, no network, no C library
unit *filter:
    cargo test --locked --lib -p kopeck-domain -p kopeck-service -- {{filter}}

# Run all tests on SQLite and PostgreSQL, or those whose name contains FILTER
test *filter:
    scripts/test {{filter}}

# Format the code
fmt:
    cargo fmt --all

# Run everything that a change has to pass
ci:
    .ci/run

# Rewrite the generated documents: outputs in API.md, BANK.md, COMMAND-LINE.md and the guide, openapi.json, public-api.txt
docs:
    UPDATE_DOCS=1 cargo test --workspace --locked --test it -- examples book::chapter --skip openapi::
    UPDATE_DOCS=1 cargo test --workspace --locked --test it -- docs_page book::the_reference public_api

# Test the clients of partners: Rust, Python, TypeScript
test-clients:
    scripts/test-clients

# Generate clients from the OpenAPI document in four languages, and make calls with each
test-generated-clients:
    scripts/test-generated-clients

# Measure against the yardsticks; `just bench --only reads`
bench *options:
    scripts/bench {{options}}

# Run all processes under load and faults
chaos *options:
    scripts/chaos {{options}}

# Mutate domain, sealing and service, and count what their tests catch
mutants *options:
    scripts/test-mutants {{options}}
