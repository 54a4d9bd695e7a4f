//! The report of an import or dry run.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::plan::{Action, Change, NO_CATEGORY, Plan};
use crate::exit::Exit;
use crate::output::Output;
use crate::table::{self, Column, number, text};
use crate::terminal;

const CHANGES: [Column; 4] = [
    number("line", "/line"),
    text("customId", "/customId"),
    text("change", "/change"),
    text("fields", "/shown"),
];
const FAULTS: [Column; 4] = [
    number("line", "/line"),
    text("customId", "/customId"),
    text("field", "/field"),
    text("reason", "/reason"),
];

/// The report of an import or dry run.
pub(super) fn answer(mut done: Plan, created: &[String], dry_run: bool) -> Output {
    done.faults.sort_by_key(|fault| fault.line);
    let Plan { changes, unchanged, faults } = &done;
    let added = changes.iter().filter(|change| matches!(change.action, Action::Add(_))).count();
    let updated = changes.len() - added;
    let faulty: BTreeSet<usize> = faults.iter().map(|fault| fault.line).collect();
    let faults: Vec<Value> = faults
        .iter()
        .map(|fault| {
            json!({"line": fault.line, "customId": fault.subject, "field": fault.field, "reason": fault.reason})
        })
        .collect();

    let mut shown = String::new();
    if dry_run && !changes.is_empty() {
        let changes: Vec<Value> = changes.iter().map(told).collect();
        shown.push_str(&table::list(&changes, &CHANGES));
    }
    if !faults.is_empty() {
        shown.push_str(&table::list(&faults, &FAULTS));
    }
    if faults.iter().any(|fault| fault["reason"] == NO_CATEGORY) {
        shown.push_str("--create-categories creates the categories that are missing\n");
    }
    for name in created {
        let _ = writeln!(
            shown,
            "category {}: {}",
            if dry_run { "to be created" } else { "created" },
            terminal::clean(name)
        );
    }
    let would = if dry_run { "dry run, nothing was changed: " } else { "" };
    let _ = writeln!(
        shown,
        "{would}{added} added, {updated} updated, {unchanged} unchanged, {} faulty",
        faulty.len()
    );
    let json = json!({
        "dryRun": dry_run,
        "added": added,
        "updated": updated,
        "unchanged": unchanged,
        "faultyRows": faulty.len(),
        "createdCategories": created,
        "changes": changes.iter().map(json_of_change).collect::<Vec<_>>(),
        "faults": faults,
    });
    let exit = if faulty.is_empty() { Exit::Done } else { Exit::FaultyRows };
    Output::new(json, shown).ending(exit)
}

fn json_of_change(change: &Change) -> Value {
    let (word, fields) = match &change.action {
        Action::Add(_) => ("add", &[][..]),
        Action::Update { fields, .. } => ("update", fields.as_slice()),
    };
    json!({"line": change.row.line, "customId": change.custom_id, "change": word, "fields": fields})
}

fn told(change: &Change) -> Value {
    let mut told = json_of_change(change);
    if let (Action::Update { fields, .. }, Some(told)) = (&change.action, told.as_object_mut()) {
        told.insert("shown".to_owned(), fields.join(", ").into());
    }
    told
}
