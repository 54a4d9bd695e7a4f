//! Objects of another partner get the same responses as objects that do not exist.

use std::collections::BTreeSet;

use serde_json::json;

use crate::raw_http::{RawResponse, get, optional};
use crate::server::TestServer;
use crate::world::{Sample, Things, samples, token_operations};

/// Whether what a request gives under this name names something of a partner's.
fn is_identifier(operation: &str, name: &str) -> bool {
    match name {
        "idCard" | "idEmployee" | "idCategory" | "order_id" | "orderId" | "replenishmentId"
        | "idReplenishment" | "setLimitsCardsId" | "closingId" | "withdrawalId" | "customIdCard"
        | "transactionId" | "idWebhook" | "eventId" | "idSession" | "idRun" | "idProgramme" => true,
        // Lists: of cards to top up; of cards to limit, to close or to take money from, but of lines in an order.
        "cards" => true,
        "data" => ["limits.set", "closing.create", "withdrawal.create"].contains(&operation),
        // The partner's own words for an employee and a request, which another partner may have too.
        "customId" | "reference" | "month" | "lang" => false,
        "surname" | "name" | "patronymic" | "phone" | "email" | "status" | "q" | "nameCategory"
        | "statusCard" | "bankStatus" | "linked" | "expiresBefore" | "typeCard" | "page" | "per_page"
        | "perPage" | "from" | "to" | "type" | "amount" | "at" | "limit" | "after" | "types" | "wait"
        | "place" | "mcc" | "merchantId" | "activationCode" | "url" | "description" | "enabled"
        | "sealed" | "seconds" | "latencyMs" | "errorRate" | "loseRequestRate" | "loseAnswerRate"
        | "duplicateRate" | "silentFeed" | "down" | "current" | "new" | "operation" | "requestId" => false,
        // Whom a programme pays; others of its terms name nothing.
        "for" => true,
        "statuses" | "every" | "day" | "time" | "shift" | "proRata" | "onShortage" | "until"
        | "forecastUntil" => false,
        // What an item of a run leads to is a fault of the item, if it is nothing of the partner's.
        "items" | "file" | "kind" | "digest" | "skipFaulty" | "createCategories" | "leavers" | "reason"
        | "faulty" | "outcome" => false,
        _ => panic!("say whether {name} of {operation} names something of a partner's"),
    }
}

/// The identifiers in a request: one by one, and all together.
fn questions(sample: &Sample) -> Vec<Vec<&str>> {
    let mut names = sample.parameters();
    names.retain(|name| is_identifier(sample.operation.name, name));
    let each: Vec<_> = names.iter().map(|name| vec![*name]).collect();
    if names.len() > 1 { [each, vec![names]].concat() } else { each }
}

#[test]
fn objects_of_another_partner_look_like_unknown_ones() {
    let server = TestServer::start();
    let [(_, victim), (_, token)] = [optional(&server), optional(&server)];
    let theirs = Things::make(&server, &victim, 1);
    // The same words as theirs: no partner's names stand in another's way.
    let own = Things::make(&server, &token, 1);
    let before = everything(&server, &victim, &theirs);
    let mut asked = BTreeSet::new();
    for sample in samples() {
        let operation = &sample.operation;
        for names in questions(&sample) {
            for method in operation.methods() {
                let ask = |things: &Things| {
                    sample.call_as(method, &own, &names, things).token(&token).send(&server)
                };
                let (nothing, foreign) = (ask(&Things::nothing()), ask(&theirs));
                unnamed(&foreign, &theirs).same_but_for_its_id(&unnamed(&nothing, &Things::nothing()));
                let is_list = ["meta", "next", "totals"]
                    .iter()
                    .any(|name| nothing.text.contains(&format!("\"{name}\"")));
                let expected = if is_list { 200..=200 } else { 404..=422 };
                assert!(expected.contains(&nothing.status), "{} {names:?}: {nothing:?}", operation.name);
                asked.extend(names.iter().map(|name| (operation.name, (*name).to_owned())));
            }
        }
    }
    let all: BTreeSet<(&str, String)> = token_operations()
        .flat_map(|operation| {
            let names = operation.placeholders().chain(operation.fields());
            names.map(move |name| (operation.name, name.to_owned())).collect::<Vec<_>>()
        })
        .filter(|(operation, name)| is_identifier(operation, name))
        .collect();
    assert_eq!(asked, all, "every identifier of every operation");
    assert_eq!(everything(&server, &victim, &theirs), before, "and nothing of it has changed");
    server.run_jobs();
}

/// The response with the names of these things in place of their identifiers.
fn unnamed(got: &RawResponse, things: &Things) -> RawResponse {
    let text = things.values().fold(got.text.clone(), |text, value| text.replace(value, "<it>"));
    RawResponse { text, ..got.clone() }
}

/// Everything that a partner sees of its things.
fn everything(server: &TestServer, token: &str, things: &Things) -> Vec<String> {
    let reads = samples().filter(|sample| !sample.operation.changes);
    let ask = |sample: Sample| {
        let got = sample.call(things).token(token).send(server);
        assert_eq!(got.status, 200, "{}: {got:?}", sample.operation.name);
        got.text
    };
    reads.map(ask).collect()
}

#[test]
fn lists_and_balances_hold_ones_own_alone() {
    let server = TestServer::start();
    let [(_, busy), (_, token)] = [optional(&server), optional(&server)];
    Things::make(&server, &busy, 1);
    let lists: Vec<_> = token_operations()
        .filter(|operation| operation.fields().any(|name| name == "per_page"))
        .filter(|operation| operation.placeholders().next().is_none())
        // Every balance begins with a deposit here.
        .filter(|operation| operation.name != "balance.entries")
        .collect();
    assert!(lists.len() >= 6, "{lists:?}");
    for list in lists {
        let shown = get(list.path).token(&token).send(&server).ok(200);
        assert_eq!((&shown["data"], &shown["meta"]["total"]), (&json!([]), &json!(0)), "{}", list.name);
        let shown = get(list.path).token(&busy).send(&server).ok(200);
        assert_ne!(shown["meta"]["total"], json!(0), "{}", list.name);
    }
    let search = get("/v1/employees?q=A").token(&token).send(&server).ok(200);
    assert_eq!(search["meta"]["total"], json!(0));
    let entries = get("/v1/balance/entries").token(&token).send(&server).ok(200);
    assert_eq!(entries["meta"]["total"], json!(1));
    let balance = get("/v1/balance").token(&token).send(&server).ok(200);
    assert_eq!((&balance["balance"], &balance["hold"]), (&json!(10_000_000), &json!(0)));
    server.run_jobs();
}
