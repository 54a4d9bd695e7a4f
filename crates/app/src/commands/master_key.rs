//! `kopeck master-key …`.

use anyhow::ensure;
use kopeck_adapter_security::MasterKey;
use kopeck_port_store::{Access, ReencryptionCursor, StoreError, transact};
use kopeck_service::audit::renew_signatures;
use kopeck_service::partners::{self, PartnerError};
use secrecy::ExposeSecret as _;

use super::audited::audited_in_two_steps;
use super::existing_application;
use crate::cli::{MasterKeyCommand, RotateArgs, StoreArgs};
use crate::command_output::say;
use crate::compose::{Application, Storage, SystemAdapters};
use crate::keys::MasterKeys;

/// Runs a `master-key` command.
pub(super) fn run(command: MasterKeyCommand) -> anyhow::Result<()> {
    match command {
        MasterKeyCommand::Generate => {
            say!("{}", MasterKey::generate(&*SystemAdapters::real().entropy).to_text().expose_secret())?;
            Ok(())
        }
        MasterKeyCommand::Rotate(args) => rotate(&args),
        MasterKeyCommand::Retire(args) => retire(&args),
    }
}

fn rotate(args: &RotateArgs) -> anyhow::Result<()> {
    let storage = Storage::open_existing(&args.store)?;
    // Refuses a database of other keys before anything is changed.
    let application = existing_application(&args.store)?;
    audited_in_two_steps(&application, "master_key.rotate", String::new(), |_| rotate_in(&storage, args))
}

fn rotate_in(storage: &Storage, args: &RotateArgs) -> anyhow::Result<()> {
    let makes_key = matches!(storage.keys, MasterKeys::File(_)) && !args.reencrypt_only;
    if let MasterKeys::File(file) = &storage.keys
        && makes_key
    {
        let mut keys = file.read()?;
        keys.insert(0, MasterKey::generate(&*SystemAdapters::real().entropy));
        file.replace(&keys)?;
    }
    let (secrets, partners, values) = reencrypt(&existing_application(&args.store)?)?;
    if makes_key {
        say!("a new master key is in use; the old one is accepted until `kopeck master-key retire`")?;
    }
    say!("encrypted anew: {secrets} secrets of {partners} partners, and {values} values of columns")?;
    Ok(())
}

fn retire(args: &StoreArgs) -> anyhow::Result<()> {
    let storage = Storage::open_existing(args)?;
    if let MasterKeys::File(file) = &storage.keys {
        // Values that a process encrypts under the old key after the re-encryption would be lost.
        file.ensure_in_use()?;
    }
    let application = existing_application(args)?;
    audited_in_two_steps(&application, "master_key.retire", String::new(), |_| {
        retire_in(&application, &storage.keys)
    })
}

fn retire_in(application: &Application, keys: &MasterKeys) -> anyhow::Result<()> {
    // A command that began before the rotation may have stored something since.
    reencrypt(application)?;
    let invalid = renew_signatures(&*application.store, &application.signer)?;
    if !invalid.is_empty() {
        say!(
            "these chains of the audit log are not validly signed and stay as they are: {invalid:?}; see \
             `kopeck audit verify`"
        )?;
    }
    match keys {
        MasterKeys::Settings(..) => {
            say!("nothing is encrypted under another key: take KOPECK_MASTER_KEYS_ACCEPTED away")?;
        }
        MasterKeys::File(file) => {
            let keys = file.read()?;
            ensure!(keys.len() > 1, "there is no old key");
            file.replace(keys.get(..1).unwrap_or_default())?;
            say!("old master keys given up: {}", keys.len() - 1)?;
        }
    }
    Ok(())
}

/// So many rows are looked at in one transaction.
const CHUNK: u32 = 1_000;

/// Re-encrypts every partner's secrets that are under another key than the one in use, then the values of encrypted
/// columns, in steps: an interrupted run continues where it was. Returns how many secrets those were, of how many
/// partners, and how many values.
fn reencrypt(application: &Application) -> anyhow::Result<(usize, usize, u64)> {
    let store = application.store();
    let partners =
        transact(&*store, Access::Read, |unit| -> Result<_, PartnerError> { partners::list(unit) })?;
    let (mut secrets, mut concerned) = (0, 0);
    for id in partners.into_iter().map(|partner| partner.id) {
        let service = application.partners.clone();
        let done = transact(&*store, Access::Write, move |unit| service.reencrypt(unit, id))?;
        secrets += done;
        concerned += usize::from(done > 0);
    }
    let (mut values, mut cursor) = (0, Some(ReencryptionCursor::default()));
    while let Some(from) = cursor {
        let (done, next) = transact(&*store, Access::Write, move |unit| -> Result<_, StoreError> {
            unit.partners().reencrypt_columns(from.clone(), CHUNK)
        })?;
        (values, cursor) = (values + done, next);
    }
    Ok((secrets, concerned, values))
}
