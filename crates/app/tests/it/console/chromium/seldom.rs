//! What people do now and then: orders of cards, programmes, limits, and an operator's deposit. By the keyboard alone.

use kopeck_domain::access::Role;
use serde_json::json;

use super::Tour;
use super::flows::Company;
use crate::console::browser::{Browser as Plain, create_user};
use crate::console::money::carry_out;
use crate::raw_http::{get, login};

/// Cards for people who have none, step by step, up to their codes; and a number of virtual ones.
pub async fn orders(tour: &Tour<'_>, company: &Company<'_>) {
    for (number, surname) in [("N-1", "Лосева"), ("N-2", "Мухин")] {
        company.call("/v1/employee/add", &json!({"customId": number, "surname": surname}));
    }
    tour.become_user(&company.owner).await;
    tour.open("/").await;
    tour.follow("/orders").await;
    tour.follow("/orders/new").await;
    tour.send("/orders/new", &[("kind", "plastic"), ("people", "all")]).await;
    tour.sees(&["People without a main card: 2", "Лосева", "Мухин"]).await;
    let left_out = "return document.querySelector('input[aria-label=\"Leave out N-2\"]').name";
    let left_out = tour.browser.run(left_out).await;
    tour.send("/orders/new", &[(left_out.as_str().unwrap(), "yes")]).await;
    assert_eq!(tour.browser.run("return document.querySelector('[name=numberCards]').value").await, "1");
    let terms = [
        ("typeCard", "KKL"),
        ("deliveryAddress", "Nevsky 1"),
        ("recipient", "Анна"),
        ("phone", "9035550100"),
    ];
    tour.send("/orders/plastic", &[&terms[..3], &[("phone", "12")]].concat()).await;
    tour.sees(&["phone"]).await;
    tour.send_and_go_back("/orders/plastic", &terms).await;
    tour.sees(&["Saved.", "accepted"]).await;
    let path = tour.path().await;
    carry_out(tour.server);
    tour.open(&path).await;
    tour.send(&format!("{path}/codes"), &[]).await;
    tour.sees(&["Activation code", "KKL"]).await;
    tour.follow(&path).await;
    tour.send_and_go_back(&format!("{path}/confirm"), &[]).await;
    tour.sees(&["receipt confirmed"]).await;

    tour.follow("/orders").await;
    tour.follow("/orders/new").await;
    tour.send("/orders/new", &[("kind", "virtual"), ("people", "number")]).await;
    tour.send("/orders/virtual", &[("numberCards", "2"), ("rubles", "100")]).await;
    tour.sees(&["draft", "₽200.00"]).await;
    let path = tour.path().await;
    tour.send_and_go_back(&format!("{path}/cancel"), &[]).await;
    tour.sees(&["Cancelled."]).await;
}

/// A programme is made as its forecast showed it, changed, and paused.
pub async fn programmes(tour: &Tour<'_>, company: &Company<'_>) {
    tour.become_user(&company.finance).await;
    tour.open("/").await;
    tour.follow("/programmes").await;
    tour.follow("/programmes/new").await;
    let terms =
        [("name", "Canteen"), ("rubles", "much"), ("every", "WEEK"), ("weekday", "3"), ("time", "10:00")];
    tour.send("/programmes/preview", &terms).await;
    tour.browser.wait_for("return document.querySelector('.problem') !== null").await;
    tour.send("/programmes/preview", &[("rubles", "150,50"), ("statuses", "MEDICAL")]).await;
    tour.sees(&["Nothing is saved yet.", "this programme"]).await;
    tour.send_and_go_back("/programmes/new", &[]).await;
    tour.sees(&["Saved.", "in force", "₽150.50"]).await;
    let path = tour.path().await;
    tour.follow(&format!("{path}/edit")).await;
    tour.send(&format!("{path}/preview"), &[("rubles", "200"), ("onShortage", "PART")]).await;
    tour.sees(&["Nothing is saved yet.", "₽1,600.00"]).await;
    tour.send_and_go_back(&format!("{path}/edit"), &[]).await;
    tour.sees(&["Saved.", "₽200.00"]).await;
    tour.send_and_go_back(&format!("{path}/pause"), &[]).await;
    tour.sees(&["The programme is paused."]).await;
}

/// Limits of two people, whose week is shown before their run is made.
pub async fn limits(tour: &Tour<'_>, company: &Company<'_>) {
    tour.become_user(&company.finance).await;
    tour.open("/programmes").await;
    tour.follow("/limits").await;
    let limit = [
        ("people", "T-2 T-3"),
        ("rubles", "500"),
        ("period", "CDAY"),
        ("days", "5"),
        ("times", "08:00-20:30"),
    ];
    tour.send("/limits/preview", &limit).await;
    tour.sees(&["When it pays", "₽500.00 a day", "08:00"]).await;
    tour.send_and_go_back("/limits", &[]).await;
    tour.sees(&["draft", "T-2", "T-3"]).await;
    let path = tour.path().await;
    tour.send_and_go_back(&format!("{path}/submit"), &[]).await;
    carry_out(tour.server);
    tour.open(&path).await;
    tour.sees(&["done"]).await;
    tour.open(&format!("/person/{}", company.people[1][0])).await;
    tour.sees(&["₽500.00 a day"]).await;
}

/// What one operator enters another one confirms: then the money is there.
pub async fn deposit(tour: &Tour<'_>, company: &Company<'_>) {
    let first = Plain::of_new(tour.server, None, Role::Operator);
    create_user(tour.server, None, Role::Operator, "second@example.ru");
    let mut second = Plain::new(tour.server);
    second.first_login("second@example.ru");
    let available = || {
        let token = login(tour.server, &company.partner).access;
        get("/v1/balance").token(&token).send(tour.server).json()["available"].as_i64().unwrap()
    };
    let before = available();
    tour.become_user(&first).await;
    tour.open("/").await;
    let path = format!("/partner/{}", company.partner.id);
    tour.follow(&path).await;
    let money = [("deposited", "2 500,00"), ("reference", "INV-7")];
    tour.send_and_go_back(&format!("{path}/deposit"), &money).await;
    tour.sees(&["Entered. Another operator has to confirm it."]).await;
    assert_eq!(available(), before);
    tour.become_user(&second).await;
    tour.open("/").await;
    tour.follow("/deposits").await;
    tour.sees(&["operator@example.ru", "INV-7"]).await;
    tour.send_and_go_back("/deposits/confirm", &[]).await;
    tour.sees(&["No deposit waits."]).await;
    assert_eq!(available(), before + 250_000);
}
