//! Programmes that wait for an approval.

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

impl TestServer {
    /// A programme of another person that waits for an approval.
    pub fn waiting_programme_of(&self, id: PartnerId) -> String {
        let by = Authority { actor: Actor::User(Uuid::from_u128(1).into()), scopes: Scopes::ALL };
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
}
