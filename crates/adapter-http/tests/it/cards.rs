//! Cards, whose data comes from the bank.

use std::sync::{Arc, Mutex};

use actix_web::http::Method;
use kopeck_adapter_http::{HttpParts, HttpState};
use kopeck_domain::Kopecks;
use kopeck_domain::card::CardFields;
use kopeck_domain::card::{AccountBalance, BankView, Card, CardLink, CardStatus, CardType, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::employee::{Employee, NewEmployee};
use kopeck_domain::ids::{CardId, EmployeeId, OrderId};
use kopeck_domain::limit::Limit;
use kopeck_domain::partner::SealingPolicy::Optional;
use kopeck_domain::person::CustomId;
use kopeck_port_bank::{BankCard, MockBankGateway};
use kopeck_port_store::CardRecord;
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use serde_json::json;
use uuid::Uuid;

use crate::client::{call, post, send};
use crate::support::{NOW, parts, unit};

pub(crate) const CARD: Uuid = Uuid::from_u128(9);
const EMPLOYEE: Uuid = Uuid::from_u128(8);

fn card(link: Option<CardStatus>, standing: Standing) -> CardRecord {
    CardRecord {
        card: Card::from_stored(CardFields {
            id: CardId::new(CARD),
            number: CardNumber::parse("4006381333931").unwrap(),
            kind: CardType::Mp4,
            order: OrderId::new(Uuid::nil()),
            valid_until: NOW.date().replace_year(2029).unwrap(),
            link: link.map(|status| CardLink { employee: EmployeeId::new(EMPLOYEE), status }),
            block: kopeck_domain::card::PartnerBlock::default(),
        }),
        bank: BankView {
            balance: Kopecks::new(1),
            remaining_top_up: Kopecks::new(2),
            activated_at: None,
            standing,
            seen_at: NOW - time::Duration::seconds(11),
        },
        account: AccountBalance { value: Kopecks::new(3), updated_at: NOW },
        transactions_seen_at: None,
        limit: Limit::Unlimited,
    }
}

fn employee(id: EmployeeId) -> Employee {
    Employee::add(id, CustomId::parse("1").unwrap(), NewEmployee::default(), NOW)
}

/// A bank with every card, in this standing.
fn bank(standing: Standing) -> MockBankGateway {
    let mut bank = MockBankGateway::new();
    bank.expect_card().returning(move |_| {
        Ok(Some(BankCard {
            balance: Kopecks::new(100),
            remaining_top_up: Kopecks::new(200),
            account: Kopecks::new(300),
            activated_at: Some(NOW),
            standing,
            valid_until: NOW.date().replace_year(2029).unwrap(),
        }))
    });
    bank
}

/// A partner with an employee and one card, with the bank's standing.
pub(crate) fn one_card(link: Option<CardStatus>) -> MockUnit {
    let mut unit = unit(Optional);
    let stored = Arc::new(Mutex::new(card(link, Standing::Open)));
    let (by_id, by_number, changed) = (Arc::clone(&stored), Arc::clone(&stored), stored);
    unit.cards.expect_get().returning(move |_, _| Ok(Some(by_id.lock().unwrap().clone())));
    unit.cards.expect_by_number().returning(move |_, _| Ok(Some(by_number.lock().unwrap().clone())));
    unit.cards.expect_main_card().returning(|_, _| Ok(None));
    unit.cards.expect_set_bank_view().returning(move |_, _, view, _| {
        changed.lock().unwrap().bank = *view;
        Ok(true)
    });
    unit.cards.expect_outdate_bank_view().returning(|_, _, _| Ok(()));
    unit.employees.expect_get().returning(|_, id| Ok(Some(employee(id))));
    unit
}

pub(crate) fn api(unit: MockUnit, standing: Standing) -> HttpParts {
    HttpParts { bank: Arc::new(bank(standing)), ..parts(Arc::new(InPlaceStore::new(unit))) }
}

#[actix_web::test]
async fn a_stale_card_is_shown_as_the_bank_sees_it() {
    let state = HttpState::new(api(one_card(None), Standing::Open));
    let body = send(&state, call(Method::GET, &format!("/v1/card/{CARD}/"))).await.json();
    let shown = &body["data"];
    assert_eq!((&shown["balance"], &shown["activated"]), (&json!(100), &json!(true)));
    assert_eq!((&shown["idEmployee"], &shown["success"]), (&json!(null), &json!(true)));
}

#[actix_web::test]
async fn the_bank_is_queried_before_a_card_is_linked_or_switched() {
    let state = HttpState::new(api(one_card(None), Standing::Blocked));
    let link = json!({"customIdCard": "4006381333931", "statusCard": "MAIN"});
    let got = send(&state, post(&format!("/v1/employee/{EMPLOYEE}/link_card"), &link)).await;
    assert_eq!((got.status, got.code().as_str()), (409, "card_not_available"));

    let state = HttpState::new(api(one_card(Some(CardStatus::Additional)), Standing::Blocked));
    let switch = json!({"idCard": CARD, "statusCard": "MAIN"});
    let got = send(&state, post(&format!("/v1/employee/{EMPLOYEE}/card/switch"), &switch)).await;
    assert_eq!((got.status, got.code().as_str()), (409, "card_blocked"));
}
