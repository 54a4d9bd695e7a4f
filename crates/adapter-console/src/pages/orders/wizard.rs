//! The steps to an order: which cards, for how many people, for whom, and to where. Each is a GET that can be opened again, but
//! for the one behind the choice of people, which may be long; the last is the form that orders.

use std::collections::HashSet;

use kopeck_api::operations::{CARD_LIST, EMPLOYEE_LIST, ORDER_PLASTIC};
use kopeck_api::{Card, CardStatus, CardType, Employee, EmployeeStatus, OrderCreated};
use kopeck_domain::access::Scope;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::call::{self, Problem};
use crate::pages::people::{categories, full_name};
use crate::pages::runs::draft;
use crate::request::Pairs;
use crate::texts::Text;
use crate::view::{Block, Cell, Control, ControlTable, Field, FieldKind, Form, Page};
use crate::visit::{Outcome, Reply, Visit};

/// The products that an order of plastic cards can have.
const PLASTIC: [CardType; 2] = [CardType::Mp4, CardType::Kkl];

/// The fields of an order of plastic cards that are texts.
const ADDRESS: [(&str, Text, usize); 3] = [
    ("deliveryAddress", Text::DELIVERY_ADDRESS, 512),
    ("recipient", Text::RECIPIENT, 128),
    ("phone", Text::PHONE, 16),
];

/// For whom cards are ordered, if not for people of a category.
const A_NUMBER: &str = "number";
const ALL_PEOPLE: &str = "all";

/// How many people are shown to be left out; the others get a card each.
const SHOWN: usize = 200;

/// The step that the query has come to.
pub(super) async fn show(visit: &Visit<'_>) -> Outcome {
    visit.require(Scope::OrdersWrite)?;
    let (kind, people) = (visit.query.get("kind"), visit.query.get("people"));
    match (kind, people) {
        ("plastic" | "virtual", A_NUMBER) => last(visit, kind, None),
        ("plastic" | "virtual", people) if !people.is_empty() => choose(visit, kind, people).await,
        _ => first(visit).await,
    }
}

/// Which cards, and for how many people.
async fn first(visit: &Visit<'_>) -> Outcome {
    let mut kinds = vec![("plastic".to_owned(), visit.t(Text::PLASTIC_CARDS).to_owned())];
    if visit.may(Scope::RunsWrite) {
        kinds.push(("virtual".to_owned(), visit.t(Text::VIRTUAL_CARDS).to_owned()));
    }
    let people = [(A_NUMBER, Text::A_NUMBER_OF_CARDS), (ALL_PEOPLE, Text::ALL_WITHOUT_A_CARD)];
    let categories = categories(visit).await?.into_iter().map(|category| {
        let label = format!("{}: {}", visit.t(Text::WITHOUT_A_CARD_IN), category.name_category);
        (category.id_category.to_string(), label)
    });
    let people = visit.options(&people).into_iter().chain(categories).collect();
    let field = |name, label, options| {
        Field::new(name, visit.t(label), FieldKind::Select(options)).value(visit.query.get(name))
    };
    let form = Form::search("/orders/new", visit.t(Text::CONTINUE))
        .field(field("kind", Text::CARD_TYPE, kinds))
        .field(field("people", Text::FOR_WHOM, people));
    let mut page = Page::new(visit.t(Text::NEW_ORDER), "orders");
    page.push(Block::Form(form));
    Ok(Reply::Page(page))
}

/// Those who have not left and have no main card.
async fn without_card(visit: &Visit<'_>, people: &str) -> Result<Vec<Employee>, Problem> {
    let category = if people == ALL_PEOPLE { "" } else { people };
    let employees: Vec<Employee> = visit.all(&EMPLOYEE_LIST, &[("idCategory", category)]).await?;
    let cards: Vec<Card> = visit.all(&CARD_LIST, &[("statusCard", CardStatus::Main.as_str())]).await?;
    let holders: HashSet<Uuid> = cards.iter().filter_map(|card| card.id_employee).collect();
    let needs_one =
        |one: &Employee| one.status != EmployeeStatus::DontWork && !holders.contains(&one.id_employee);
    Ok(employees.into_iter().filter(needs_one).collect())
}

fn out_name(person: Uuid) -> String {
    format!("out-{person}")
}

/// How many cards the choice of people makes.
pub(super) async fn count(visit: &Visit<'_>) -> Outcome {
    visit.require(Scope::OrdersWrite)?;
    let found = without_card(visit, visit.form.get("people")).await?;
    let chosen = visit.form.by_name();
    let is_out = |one: &&Employee| chosen.get(&*out_name(one.id_employee)) == Some(&"yes");
    let number = found.len() - found.iter().filter(is_out).count();
    last(visit, visit.form.get("kind"), Some(number))
}

/// The people who have no card: whom to leave out.
async fn choose(visit: &Visit<'_>, kind: &str, people: &str) -> Outcome {
    let found = without_card(visit, people).await?;
    let mut page = Page::new(visit.t(Text::NEW_ORDER), "orders");
    if found.is_empty() {
        page.push(Block::Text(visit.t(Text::EVERYBODY_HAS_A_CARD).to_owned()));
        page.push(Block::Links(vec![Cell::link(visit.t(Text::BACK), "/orders/new")]));
        return Ok(Reply::Page(page));
    }
    page.push(Block::Text(format!("{}: {}", visit.t(Text::PEOPLE_WITHOUT_A_CARD), found.len())));
    let columns = [Text::PERSONNEL_NUMBER, Text::NAME, Text::LEAVE_OUT].map(|text| (text, false));
    let row = |one: &Employee| {
        let label = format!("{} {}", visit.t(Text::LEAVE_OUT), one.custom_id);
        vec![
            Control::Cell(Cell::text(one.custom_id.clone())),
            Control::Cell(Cell::text(full_name(one))),
            Control::Check(out_name(one.id_employee), label),
        ]
    };
    let table = ControlTable {
        caption: visit.t(Text::PEOPLE_WITHOUT_A_CARD).to_owned(),
        columns: visit.columns(&columns),
        rows: found.iter().take(SHOWN).map(row).collect(),
    };
    let form = visit.post("/orders/new", Text::CONTINUE).hide("kind", kind).hide("people", people);
    page.push(Block::Form(Form { table: Some(table), ..form }));
    Ok(Reply::Page(page))
}

/// The last step: the form that orders.
fn last(visit: &Visit<'_>, kind: &str, number: Option<usize>) -> Outcome {
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    Ok(Reply::Page(order_page(visit, kind, &Pairs::from([("numberCards", &*number)]), None)))
}

fn order_page(visit: &Visit<'_>, kind: &str, values: &Pairs, problem: Option<&Problem>) -> Page {
    let mut page = Page::new(visit.t(Text::NEW_ORDER), "orders");
    let form = if kind == "virtual" { virtual_form(visit, values) } else { plastic_form(visit, values) };
    page.push(Block::Form(form));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::BACK), "/orders/new")]));
    page.refused(problem)
}

fn number_field(visit: &Visit<'_>, values: &Pairs) -> Field {
    let field = Field::new("numberCards", visit.t(Text::HOW_MANY), FieldKind::Text);
    field.value(values.get("numberCards")).max(6).required()
}

fn plastic_form(visit: &Visit<'_>, values: &Pairs) -> Form {
    let form = visit.post("/orders/plastic", Text::ORDER_CARDS).titled(visit.t(Text::PLASTIC_CARDS));
    with_address(visit, form.field(type_field(visit, values)).field(number_field(visit, values)), values)
}

/// The product of plastic cards.
pub(crate) fn type_field(visit: &Visit<'_>, values: &Pairs) -> Field {
    let types = PLASTIC.map(|kind| (kind.to_string(), kind.to_string()));
    let field = Field::new("typeCard", visit.t(Text::CARD_TYPE), FieldKind::Select(types.to_vec()));
    field.value(values.get("typeCard"))
}

/// The form with the fields that say where plastic cards go.
pub(crate) fn with_address(visit: &Visit<'_>, mut form: Form, values: &Pairs) -> Form {
    for (name, label, max) in ADDRESS {
        let field =
            Field::new(name, visit.t(label), FieldKind::Text).value(values.get(name)).max(max).required();
        form = form.field(if name == "phone" { field.hint(visit.t(Text::PHONE_RULE)) } else { field });
    }
    form
}

/// The line of an order of so many plastic cards.
pub(crate) fn plastic(form: &Pairs, number: Value) -> Value {
    let [address, recipient, phone] = ADDRESS.map(|(name, ..)| form.get(name));
    json!({"typeCard": form.get("typeCard"), "numberCards": number, "deliveryAddress": address,
        "recipient": recipient, "phone": phone})
}

fn virtual_form(visit: &Visit<'_>, values: &Pairs) -> Form {
    let amount = Field::new("rubles", visit.t(Text::AMOUNT_OF_EACH), FieldKind::Text).max(16).required();
    let form = visit.post("/orders/virtual", Text::CHECK).titled(visit.t(Text::VIRTUAL_CARDS));
    form.field(number_field(visit, values)).field(amount.value(values.get("rubles")))
}

/// Orders plastic cards; an order of virtual ones is a run, which is shown before it is submitted.
pub(super) async fn create(visit: &Visit<'_>, kind: &str) -> Outcome {
    let form = &visit.form;
    let made = if kind == "plastic" {
        let number = form.get("numberCards");
        let number = number.parse::<u32>().map_or_else(|_| json!(number), Value::from);
        let ordered = visit.change(&ORDER_PLASTIC, &[], Some(json!({"data": [plastic(form, number)]}))).await;
        ordered.and_then(|response| {
            let made: OrderCreated = call::read(&response, visit.language)?;
            Ok(Reply::SeeOther(format!("/order/{}?done=saved", made.order_id)))
        })
    } else {
        let item = json!({"typeCard": CardType::Mlz.as_str(), "numberCards": form.get("numberCards"),
            "rubles": form.get("rubles")});
        draft(visit, json!({"kind": "VIRTUAL_ORDER", "items": [item]})).await
    };
    match made {
        Err(problem) if problem.status == 403 => Err(visit.hidden_alike(problem)),
        Err(problem) => Ok(Reply::Page(order_page(visit, kind, form, Some(&problem)))),
        made => made,
    }
}
