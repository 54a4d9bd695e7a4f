//! Programmes, and changes of them, that wait for the approval of another person.

use std::sync::Arc;

use kopeck_domain::Kopecks;
use kopeck_domain::access::{Actor, Authority, Scopes};
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::limit::TimeOfDay;
use kopeck_domain::programme::{
    Audience, Every, Grant, OnShortage, ProgrammeName, ProgrammeState, Shift, Terms, TermsFields,
};
use kopeck_port_store::{Access, StoreError, transact};
use kopeck_service::programmes;
use uuid::Uuid;

use super::TestServer;

fn person(number: u128) -> Authority {
    Authority { actor: Actor::User(Uuid::from_u128(number).into()), scopes: Scopes::ALL }
}

impl TestServer {
    /// A programme of another person that waits for an approval.
    pub fn waiting_programme_of(&self, id: PartnerId) -> String {
        let by = person(1);
        let fields = TermsFields {
            name: ProgrammeName::parse("Waiting").unwrap(),
            audience: Audience::All,
            statuses: vec![EmployeeStatus::Work],
            grant: Grant::UpTo(Kopecks::new(2)),
            every: Every::Year,
            day: 1,
            month: Some(1),
            time: TimeOfDay::parse("09:00").unwrap(),
            shift: Shift::None,
            pro_rata: false,
            on_shortage: OnShortage::Part,
            from: None,
            until: None,
            reference: None,
        };
        let (env, terms) = (Arc::clone(&self.application.env), Terms::new(fields).unwrap());
        transact(&*self.application.store, Access::Write, move |unit| {
            let above = unit.ledger().sheet(id)?.unwrap().approval_above;
            unit.ledger().set_approval(id, Kopecks::new(1))?;
            let view = programmes::create(unit, &env, id, &by, &terms).unwrap();
            assert_eq!(view.programme.status(), ProgrammeState::WaitingApproval);
            unit.ledger().set_approval(id, above)?;
            Ok::<_, StoreError>(view.programme.id().to_string())
        })
        .unwrap()
    }

    /// Another person's change of a programme, which waits for an approval.
    pub fn propose_change(
        &self,
        id: PartnerId,
        programme: &str,
        change: impl Fn(TermsFields) -> TermsFields + Send + 'static,
    ) {
        let (env, programme) = (Arc::clone(&self.application.env), programme.parse().unwrap());
        transact(&*self.application.store, Access::Write, move |unit| {
            let above = unit.ledger().sheet(id)?.unwrap().approval_above;
            unit.ledger().set_approval(id, Kopecks::new(1))?;
            let present = programmes::get(unit, &env, id, programme).unwrap().programme;
            let terms = Terms::new(change(present.terms().fields().clone())).unwrap();
            let view = programmes::change(unit, &env, id, &person(1), programme, &terms).unwrap();
            assert_eq!(view.programme.status(), ProgrammeState::WaitingApproval);
            unit.ledger().set_approval(id, above)
        })
        .unwrap();
    }

    /// Has a third person approve what waits of a programme.
    pub fn approve_programme(&self, id: PartnerId, programme: &str) {
        let (env, programme) = (Arc::clone(&self.application.env), programme.parse().unwrap());
        transact(&*self.application.store, Access::Write, move |unit| {
            let view = programmes::approve(unit, &env, id, &person(2), programme).unwrap();
            assert_eq!(view.programme.status(), ProgrammeState::Active);
            Ok::<_, StoreError>(())
        })
        .unwrap();
    }
}
