//! Personal data in a copy of the database.

use std::collections::HashMap;

use kopeck_client::{EmployeeFilter, EmployeeUpdate, NewEmployee, Paging, Patch, PlasticItem};

use crate::api_client::{plastic_item, start_client, virtual_item};

const PEOPLE: usize = 50;

/// The texts of `wanted` that are in `dump`, as text or as the hexadecimal digits of its bytes. One pass: a search for each
/// would take minutes without optimisation.
pub fn found_in<'a>(dump: &[u8], wanted: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut by_start: HashMap<[u8; 2], Vec<(Vec<u8>, &str)>> = HashMap::new();
    for text in wanted {
        let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        for form in [text.as_bytes().to_vec(), digits.into_bytes()] {
            by_start.entry([form[0], form[1]]).or_default().push((form, text));
        }
    }
    let mut is_start = vec![false; 1 << 16];
    by_start.keys().for_each(|start| is_start[usize::from(u16::from_be_bytes(*start))] = true);
    let mut found = Vec::new();
    for (at, start) in dump.windows(2).enumerate() {
        let start = [start[0], start[1]];
        if is_start[usize::from(u16::from_be_bytes(start))] {
            let forms = &by_start[&start];
            found.extend(forms.iter().filter(|(form, _)| dump[at..].starts_with(form)).map(|(_, text)| text));
        }
    }
    found
}

/// An idempotent retry of each request would be answered from the recorded responses, so these are in the copy too.
#[tokio::test]
async fn a_copy_of_the_database_shows_no_contacts_addresses_and_codes() {
    let (server, client) = start_client(10_000_000);
    let mut secrets: Vec<String> = Vec::new();
    for number in 0..PEOPLE {
        let (phone, other) = (format!("90312{number:05}"), format!("90412{number:05}"));
        let email = format!("someone.{number}@personal.example");
        let new = NewEmployee {
            surname: Some("Ёжиков".into()),
            phone: Some(phone.clone()),
            email: Some(email.clone()),
            ..NewEmployee::new(format!("E-{number}"))
        };
        let added = client.employees().add(&new).await.unwrap();
        let update = EmployeeUpdate { phone: Patch::Set(other.clone()), ..EmployeeUpdate::default() };
        client.employees().update(added.id_employee, &update).await.unwrap();
        let (address, recipient, called) = (
            format!("Planted street {number}"),
            format!("Planted recipient {number}"),
            format!("90512{number:05}"),
        );
        let item = PlasticItem {
            delivery_address: address.clone(),
            recipient: recipient.clone(),
            phone: called.clone(),
            ..plastic_item(1)
        };
        client.orders().plastic(&[item]).await.unwrap();
        secrets.extend([phone, other, email, address, recipient, called]);
    }
    let order = client.orders().virtual_cards(&[virtual_item(50, 5_000)]).await.unwrap();
    server.run_jobs();
    let issued = client.orders().result(order.order_id).await.unwrap().data;
    let codes: Vec<String> =
        issued.iter().map(|card| card.activation_code.as_ref().unwrap().expose().to_owned()).collect();
    assert_eq!(codes.len(), PEOPLE);

    let listed = client.employees().list(&EmployeeFilter::default(), Paging::default()).await.unwrap().data;
    assert!(listed.iter().any(|employee| employee.phone.as_deref() == Some("9041200000")), "{listed:?}");
    let dump = server.dump();
    assert!(!found_in(&dump, ["Ёжиков"]).is_empty(), "names are readable, so the copy is one");
    assert_eq!(found_in(&dump, secrets.iter().chain(&codes).map(String::as_str)), [""; 0]);
}
