//! Makes cargo recompile the crate when a migration is added or changed: `embed_migrations!` alone does not.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
