use std::collections::{BTreeMap, BTreeSet};

use kopeck_api::Code;
use kopeck_domain::access::Scope;
use serde_json::Value;

use super::*;
use crate::input::schema::{Location, object_schema};

fn document() -> Value {
    serde_json::from_str(&openapi()).unwrap()
}

fn described<'a>(document: &'a Value, operation: &Operation) -> &'a Value {
    &document["paths"][operation.path][operation.method.as_str().to_lowercase()]
}

#[test]
fn every_operation_has_its_place() {
    let document = document();
    for operation in operations::all() {
        assert_eq!(described(&document, operation)["operationId"], operation.name, "{}", operation.path);
    }
}

#[test]
fn every_code_stands_in_it() {
    let text = openapi();
    let document = document();
    let mut told = BTreeSet::new();
    walk(&document["paths"], &mut |value| told.extend(codes_of(value)));
    walk(&document["components"]["responses"], &mut |value| told.extend(codes_of(value)));
    assert_eq!(told, Code::ALL.iter().map(|code| code.as_str().to_owned()).collect());
    assert!(text.ends_with("}\n"));
}

/// The page is written by hand. Any sandbox operation may fail because there is no bank; the page says so once.
#[test]
fn an_operation_refuses_for_the_reasons_that_the_page_gives() {
    let guide = Guide::read();
    for operation in operations::all() {
        let mut told = BTreeSet::new();
        let codes = operation.errors.iter().chain(operation.card_errors);
        told.extend(codes.map(|code| (code.status(), code.as_str().to_owned())));
        if operation.path.starts_with("/sandbox") {
            told.remove(&(503, "bank_unavailable".to_owned()));
        }
        assert_eq!(told, guide.errors(operation).into_iter().collect(), "{}", operation.name);
    }
}

/// On the page, in the document, and in the declaration. Of the sandbox the page says it once.
#[test]
fn an_operation_names_the_scopes_that_it_needs() {
    let (guide, document) = (Guide::read(), document());
    for operation in operations::all() {
        let needed: Vec<&str> = operation.needs.scopes().map(|scope| scope.as_str()).collect();
        let told = &described(&document, operation)["security"][0];
        let told = told.as_object().unwrap().values().next().unwrap();
        assert_eq!(*told, serde_json::json!(needed), "{}", operation.name);
        if operation.path.starts_with("/v1") {
            assert_eq!(guide.scopes(operation), needed, "{}", operation.name);
            assert!(operation.needs.scopes().all(Scope::is_for_credentials), "{}", operation.name);
        } else {
            assert_eq!(needed, ["sandbox:write"], "{}", operation.name);
        }
    }
}

/// Only operations on the credentials of whoever sends them need none. What changes something or discloses secrets needs a scope
/// to write, and nothing else does.
#[test]
fn scopes_fit_what_an_operation_does() {
    for operation in operations::all() {
        let scopes: Vec<Scope> = operation.needs.scopes().collect();
        let is_own =
            ["token.", "session.", "password."].iter().any(|group| operation.name.starts_with(group));
        assert_eq!(scopes.is_empty(), is_own, "{}", operation.name);
        let writes = scopes.iter().any(|scope| scope.as_str().ends_with(":write"));
        assert!(is_own || writes == (operation.is_mutation() || operation.discloses), "{}", operation.name);
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_component_is_referred_to() {
    let document = document();
    let mut references = BTreeSet::new();
    walk(&document, &mut |value| {
        references.extend(value.get("$ref").and_then(Value::as_str).map(str::to_owned));
    });
    for reference in &references {
        assert!(document.pointer(&reference[1..]).is_some(), "{reference}");
    }
    for kind in ["schemas", "parameters", "headers", "responses"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            assert!(references.contains(&format!("#/components/{kind}/{name}")), "{kind} {name}");
        }
    }
}

/// The description of a code comes from the table of codes on the page.
#[test]
fn every_refusal_says_what_it_means() {
    let guide = Guide::read();
    for operation in operations::all() {
        for code in operation.errors.iter().chain(operation.card_errors) {
            let told = guide.code(code.status(), *code);
            assert!(told.is_some(), "{} {}", operation.name, code.as_str());
        }
    }
    assert!(guide.code(503, Code::Internal) != guide.code(500, Code::Internal));
    walk(&document()["components"]["responses"], &mut |response| {
        let told = response.get("description").and_then(Value::as_str);
        assert!(told.is_none_or(|told| !told.contains(": .")), "{told:?}");
    });
}

#[test]
fn every_operation_has_a_success_example() {
    let document = document();
    for operation in operations::all() {
        let described = described(&document, operation);
        assert!(!described["summary"].as_str().unwrap().is_empty(), "{}", operation.name);
        let tags: Vec<_> = document["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
        assert!(tags.contains(&&described["tags"][0]), "{}", operation.name);
        let answer = &described["responses"][operation.status.to_string()]["content"]["application/json"];
        assert!(answer["examples"]["1"].is_object(), "{}", operation.name);
    }
}

/// Generators of clients make a type of every body without a name: a thousand of them for these operations.
#[test]
fn bodies_have_names() {
    fn is_named(schema: &Value) -> bool {
        let all = |components: &Value| {
            components.as_array().is_some_and(|components| components.iter().all(is_named))
        };
        schema.get("$ref").is_some()
            || schema.get("items").is_some_and(is_named)
            || schema.get("anyOf").is_some_and(all)
    }
    let document = document();
    let mut bodies = 0;
    for place in ["/paths", "/components/responses"] {
        walk(document.pointer(place).unwrap(), &mut |value| {
            let content = value.get("content").and_then(Value::as_object).into_iter().flatten();
            // A file is what it is.
            for (_, media) in content.filter(|(media_type, _)| media_type.ends_with("json")) {
                assert!(is_named(&media["schema"]), "{}", media["schema"]);
                bodies += 1;
            }
        });
    }
    assert!(bodies > 200, "{bodies}");
    let coded = "/paths/~1v1~1category/post/responses/409/content/application~1json/schema";
    let coded = document.pointer(coded).unwrap();
    assert_eq!(coded["$ref"], "#/components/schemas/Error");
    assert_eq!(codes_of(coded), ["category_exists", "request_in_progress"]);
}

/// The document has the body of the first operation only.
#[test]
fn operations_that_share_a_body_have_the_same() {
    let mut bodies: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
    for operation in operations::all() {
        if let Some(name) = operation.shared_body {
            let inputs = operation.inputs();
            let fields = inputs.iter().filter(|input| input.location != Location::Path);
            let body = object_schema(fields, &mut Components::default());
            bodies.entry(name).or_default().push(body);
        }
    }
    for (name, bodies) in &bodies {
        assert!(bodies.len() > 1 && bodies.iter().all(|body| *body == bodies[0]), "{name}: {bodies:?}");
    }
    assert!(!bodies.is_empty());
}

#[test]
fn an_operation_has_a_unique_title_and_a_purpose() {
    let document = document();
    let mut titles = BTreeSet::new();
    for operation in operations::all() {
        let described = described(&document, operation);
        let title = described["summary"].as_str().unwrap();
        assert!(titles.insert(title.to_owned()), "two operations are titled {title}");
        let (purpose, _) =
            described["description"].as_str().unwrap().split_once("\n\n").unwrap_or_else(|| {
                panic!("{}: a purpose, and then the rest: {}", operation.name, described["description"])
            });
        assert!(purpose.ends_with('.') && !purpose.contains('|'), "{}: {purpose}", operation.name);
        for other in ["Response", "Takes", "Errors", "["] {
            assert!(!purpose.starts_with(other), "{}: {purpose}", operation.name);
        }
    }
}

/// Prose is cut out of pages, and read where these pages are not.
#[test]
fn prose_ends_and_its_links_lead_somewhere() {
    let slug = |title: &str| {
        let mut kept = title.to_lowercase();
        kept.retain(|character| character.is_alphanumeric() || [' ', '-'].contains(&character));
        kept.trim().replace(' ', "-")
    };
    let document = document();
    let introduction = document["info"]["description"].as_str().unwrap();
    let headings = introduction.lines().filter_map(|line| Some(line.strip_prefix('#')?.trim_matches('#')));
    let mut anchors: BTreeSet<String> = headings.map(slug).collect();
    anchors
        .extend(document["tags"].as_array().unwrap().iter().map(|tag| slug(tag["name"].as_str().unwrap())));
    let summaries =
        operations::all().map(|operation| described(&document, operation)["summary"].as_str().unwrap());
    anchors.extend(summaries.map(slug));
    let mut links = 0;
    let mut check = |prose: &str| {
        assert!(!prose.trim().is_empty() && !prose.trim().ends_with(':'), "{prose}");
        for target in prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let leads = match target.strip_prefix("/docs#") {
                Some(anchor) => anchors.contains(anchor),
                None => crate::docs_page::file(target, false).is_some(),
            };
            assert!(leads, "{target} in: {prose}");
            links += 1;
        }
    };
    check(introduction);
    document["tags"].as_array().unwrap().iter().for_each(|tag| check(tag["description"].as_str().unwrap()));
    operations::all()
        .for_each(|operation| check(described(&document, operation)["description"].as_str().unwrap()));
    assert!(links > 20, "{links}");
}

#[test]
fn every_pattern_has_a_description() {
    let mut patterns = 0;
    walk(&document(), &mut |value| {
        if value.get("pattern").is_some_and(Value::is_string) {
            patterns += 1;
            assert!(value.get("x-form").is_some_and(Value::is_string), "{value}");
        }
    });
    assert!(patterns > 20, "{patterns}");
}

/// The codes of a schema that has some.
fn codes_of(value: &Value) -> Vec<String> {
    let words = value.pointer("/properties/code/enum").and_then(Value::as_array);
    words.into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect()
}

fn walk(value: &Value, seen: &mut impl FnMut(&Value)) {
    seen(value);
    match value {
        Value::Object(map) => map.values().for_each(|value| walk(value, seen)),
        Value::Array(items) => items.iter().for_each(|value| walk(value, seen)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
