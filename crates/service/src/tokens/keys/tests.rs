use super::*;
use crate::testing::*;
use crate::tokens::testing::*;
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_security::{MockPasswordHasher, MockTokenCodec};
use kopeck_port_store::mock::MockUnit;
use secrecy::ExposeSecret;
use time::Duration;

fn identify(unit: &mut MockUnit) -> Result<Option<ApiKeyOwner>, TokenError> {
    desk(&Bench::new(), MockPasswordHasher::new(), MockTokenCodec::new()).identify(unit, API_KEY)
}

fn behind_the_key(unit: &mut MockUnit, status: PartnerStatus) {
    unit.partners
        .expect_by_api_key()
        .withf(|hash, now| *hash == api_key_hash(API_KEY) && *now == START)
        .times(1)
        .returning(move |_, _| Ok(Some(known(status).credentials)));
}

/// FIPS 180-2: the digest of `abc`.
#[test]
fn an_api_key_is_stored_as_its_sha_256() {
    let digest = api_key_hash("abc");
    assert_eq!((digest[0], digest[1], digest[30], digest[31]), (0xBA, 0x78, 0x15, 0xAD));
}

/// Also a suspended one: its body has to be opened, so that it is refused like any other.
#[test]
fn a_partner_is_found_by_its_key_whatever_its_status() {
    for status in PartnerStatus::ALL {
        let mut unit = MockUnit::default();
        behind_the_key(&mut unit, *status);
        unit.partners.expect_sealing_keys().returning(|_| {
            let ends = [None, Some(START + Duration::SECOND), Some(START), Some(BEFORE)];
            Ok((1..).zip(ends).map(|(n, end)| sealing_key(n, end)).collect())
        });
        let known = identify(&mut unit).unwrap().unwrap();
        assert_eq!(known.credentials.partner, partner(*status));
        let keys: Vec<_> = known.keys.iter().map(|key| key.secret.expose_secret()).collect();
        assert_eq!(keys, [&[1_u8; 8][..], &[2; 8]]);
    }
}

/// Keys as they are stored, newest first: whether each is accepted, and whether it was used. The default is the newest of
/// those that were used, or the oldest.
#[test]
fn unasked_sealing_takes_a_key_that_the_partner_has() {
    let (accepted, ended) = (START + Duration::SECOND, START);
    for (stored, expected) in [
        (vec![], None),
        (vec![(None, false)], Some(1)),
        (vec![(None, false), (Some(accepted), true)], Some(2)),
        (vec![(None, false), (Some(accepted), false)], Some(2)),
        (vec![(None, true), (Some(accepted), true)], Some(1)),
        (vec![(None, true), (Some(accepted), false)], Some(1)),
        (vec![(None, false), (Some(ended), true)], Some(1)),
        (vec![(None, false), (Some(accepted), false), (Some(ended), true)], Some(2)),
    ] {
        let mut unit = MockUnit::default();
        let records: Vec<SealingKeyRecord> = (1..)
            .zip(&stored)
            .map(|(n, (until, used))| SealingKeyRecord {
                first_used_at: used.then_some(BEFORE),
                ..sealing_key(n, *until)
            })
            .collect();
        unit.partners.expect_sealing_keys().returning(move |_| Ok(records.clone()));
        let desk = desk(&Bench::new(), MockPasswordHasher::new(), MockTokenCodec::new());
        let key = desk.default_key(&mut unit, PARTNER).unwrap();
        assert_eq!(key.map(|key| key.id), expected.map(|n| [n; 8]), "{stored:?}");
    }
}

#[test]
fn an_unknown_key_belongs_to_no_partner() {
    let mut unit = MockUnit::default();
    unit.partners.expect_by_api_key().times(1).returning(|_, _| Ok(None));
    unit.credentials.expect_by_api_key().times(1).returning(|_| Ok(None));
    assert!(identify(&mut unit).unwrap().is_none());
}

/// A secret that was moved to another row does not open.
#[test]
fn a_secret_out_of_its_place_is_corrupt_data() {
    let mut unit = MockUnit::default();
    behind_the_key(&mut unit, PartnerStatus::Active);
    unit.partners
        .expect_sealing_keys()
        .returning(|_| Ok(vec![SealingKeyRecord { encrypted_secret: vec![9; 8], ..sealing_key(1, None) }]));
    let opened = identify(&mut unit);
    assert!(matches!(opened, Err(TokenError::Store(StoreError::Corrupt(_)))), "{opened:?}");
}
