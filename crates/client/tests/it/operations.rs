//! Every operation: what it sends, and that its response is read.

use kopeck_client::{
    BankBehaviour, BankStatus, CardClosing, CardFilter, CardLimit, CardRef, CardStatus, CardType,
    CardWithdrawal, Client, ClosingReason, Date, EmployeeFilter, EmployeeStatus, EmployeeUpdate, Error,
    LimitPeriod, NewEmployee, Paging, Patch, PaymentQuestion, PlasticItem, PrimitiveDateTime, Purchase,
    RequestFilter, RequestState, Time, TopUp, TransactionFilter, TransactionType, Uuid, VirtualItem, Wait,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::programmes;
use crate::stub::{RecordedRequest, Reply, logged_in};

pub(crate) const ID: Uuid = Uuid::from_u128(0x0f8f_ad5b_d9cb_469f_a165_7086_7728_950e);

/// One response for all: each operation reads the fields that it knows.
const OBJECT: &str = r#"{
    "idEmployee":"0f8fad5b-d9cb-469f-a165-70867728950e","idCard":"0f8fad5b-d9cb-469f-a165-70867728950e",
    "idCategory":"0f8fad5b-d9cb-469f-a165-70867728950e","customId":"T-1","phone":9031234567,"status":"WORK",
    "createdAt":"01.02.2026","statusUpdatedAt":"01.02.2026","nameCategory":"N","statusCard":"MAIN",
    "customCardId":4006381333931,"type":"MP4","dateUntil":"31.01.2029","bankStatus":"OPEN","balance":5,"canToUp":6,"hold":1,
    "balanceAccount":{"updateAt":"07.02.2026 03:00","value":4},"limit":{"unlimited":true},"activated":true,
    "available":4,"updatedAt":"07.02.2026 09:05","allowed":false,"reason":"limit","remaining":7,
    "resetsAt":"01.03.2026 00:00","approved":true,"transactionId":9"#;

/// A special response, by the end of the path.
fn special(path: &str) -> Option<String> {
    const REQUEST: &str = r#""status":"NEW","numberCards":2,"amount":10000,"createdAt":"07.02.2026 09:05",
        "statusUpdatedAt":"07.02.2026 09:06""#;
    let page = |item: String| {
        format!(
            r#"{{"data":[{item}],"meta":{{"current_page":1,"from":1,"to":1,"total":1,"last_page":1,"per_page":15,
                "path":"/v1/x"}}}}"#
        )
    };
    Some(match path {
        "/v1/employees" | "/v1/categories" | "/v1/cards" => page(format!("{OBJECT}}}")),
        "/v1/orders" => page(format!(r#"{{"orderId":"{ID}","kind":"VIRTUAL","typeCard":"MLZ",{REQUEST}}}"#)),
        "/v1/replenishments" => page(format!(r#"{{"replenishmentId":"{ID}",{REQUEST}}}"#)),
        "/v1/limits" => page(format!(r#"{{"setLimitsCardsId":"{ID}",{REQUEST}}}"#)),
        "/v1/cards/available" => page(format!(
            r#"{{"idCard":"{ID}","customIdCard":"1234567890","typeCard":"MLZ","dateUntil":"31.01.2029","bankStatus":"OPEN"}}"#
        )),
        _ if path.ends_with("/transactions") => page(
            r#"{"id":1,"dateExecutionAt":"07.02.2026","timeExecutionAt":"09:05","type":"PAYMENT","amount":5,
                "place":"Кафе","mcc":"5812","merchantId":null}"#
                .to_owned(),
        ),
        _ if path.contains("/order/result/") => {
            r#"{"typeCard":"MP4","data":[{"customIdCard":"4006381333931"}]}"#.to_owned()
        }
        "/v1/replenishment/result/" => format!(
            r#"{{"data":[{{"idCard":"{ID}","resultReplenishment":false,"amountReplenishment":5,
                "errorReplenishment":"expired"}}]}}"#
        ),
        _ if path.contains("/limits/result/") => {
            format!(r#"{{"data":[{{"idCard":"{ID}","resultLimit":true,"errorLimit":null}}]}}"#)
        }
        _ if path.starts_with("/v1/closing/") && path.ends_with("/result") => format!(
            r#"{{"data":[{{"idCard":"{ID}","resultClosing":true,"amountReturned":5,"errorClosing":null}}]}}"#
        ),
        _ if path.starts_with("/v1/withdrawal/") && path.ends_with("/result") => format!(
            r#"{{"data":[{{"idCard":"{ID}","resultWithdrawal":false,"amountWithdrawn":0,
                "errorWithdrawal":"the card is closed"}}]}}"#
        ),
        _ if path.starts_with("/v1/programme") => programmes::answer(path, &run()),
        "/v1/runs" => page(run()),
        _ if path.starts_with("/v1/run/") && path.ends_with("/items") => page(RUN_ITEM.to_owned()),
        _ if path.starts_with("/v1/run/") && path.ends_with("/result") => {
            format!(r#"{{"data":[{RUN_ITEM}]}}"#)
        }
        _ if path.starts_with("/v1/run/") => run(),
        "/v1/replenishment" => format!(r#"{{"message":"wait","replenishmentId":"{ID}"}}"#),
        "/v1/setlimitscards" => format!(r#"{{"message":"wait","setLimitsCardsId":"{ID}"}}"#),
        _ if path.starts_with("/v1/order/") => format!(r#"{{"message":"SUCCESS","orderId":"{ID}"}}"#),
        _ if path.starts_with("/v1/replenishment") => {
            format!(r#"{{"message":"SUCCESS","replenishmentId":"{ID}"}}"#)
        }
        _ if path.starts_with("/v1/closing/") => format!(r#"{{"message":"SUCCESS","closingId":"{ID}"}}"#),
        _ if path.starts_with("/v1/withdrawal/") => {
            format!(r#"{{"message":"SUCCESS","withdrawalId":"{ID}"}}"#)
        }
        _ if path.starts_with("/v1/limits") => {
            format!(r#"{{"message":"SUCCESS","setLimitsCardsId":"{ID}"}}"#)
        }
        _ => return None,
    })
}

const RUN_ITEM: &str = r#"{"line":1,"customId":"T-1","idEmployee":null,"idCard":null,"amount":5,"fault":null,
    "outcome":"DONE","reason":null}"#;

fn run() -> String {
    format!(
        r#"{{"idRun":"{ID}","kind":"TOP_UP","status":"DRAFT","reference":null,"at":null,"number":1,"amount":5,
            "faulty":0,"digest":"ab","available":9,"availableAfter":4,"createdAt":"07.02.2026 09:05",
            "createdBy":"login","submittedBy":null,"approvedBy":null,"reason":null,"idProgramme":null,
            "period":null,"requests":[{{"kind":"replenishment","id":"{ID}"}}]}}"#
    )
}

/// The paths of closings and withdrawals that take requests and list them.
fn request_or_list(seen: &RecordedRequest) -> Option<String> {
    let (id, is_list) = match seen.path() {
        "/v1/closings" => ("closingId", seen.method == "GET"),
        "/v1/withdrawals" => ("withdrawalId", seen.method == "GET"),
        "/v1/runs" if seen.method == "POST" => return Some(run()),
        "/v1/programmes" if seen.method == "POST" => return Some(programmes::programme()),
        _ => return None,
    };
    Some(if is_list {
        format!(
            r#"{{"data":[{{"{id}":"{ID}","status":"NEW","numberCards":1,"amount":null,"amountMoved":7,
                "createdAt":"07.02.2026 09:05","statusUpdatedAt":"07.02.2026 09:05"}}],"meta":{{"current_page":1,
                "from":1,"to":1,"total":1,"last_page":1,"per_page":15,"path":"/v1/x"}}}}"#
        )
    } else {
        format!(r#"{{"message":"wait","{id}":"{ID}"}}"#)
    })
}

fn answer(seen: &RecordedRequest) -> Reply {
    let wrapped = seen.method == "GET"
        && seen.path().ends_with(&ID.to_string())
        && ["/v1/employee/", "/v1/card/"].iter().any(|start| seen.path().starts_with(start));
    let body = request_or_list(seen)
        .or_else(|| special(seen.path()))
        .unwrap_or_else(|| if wrapped { format!(r#"{{"data":{OBJECT}}}}}"#) } else { format!("{OBJECT}}}") });
    Reply::json(200, body).header("etag", "\"1e\"")
}

/// `METHOD path?query body`, with the identifier as `ID` and the parameters of the query sorted.
fn line(seen: &RecordedRequest) -> String {
    let (path, query) = seen.target.split_once('?').unwrap_or((&seen.target, ""));
    let mut parameters: Vec<_> = query.split('&').filter(|parameter| !parameter.is_empty()).collect();
    parameters.sort_unstable();
    let query = if parameters.is_empty() { String::new() } else { format!("?{}", parameters.join("&")) };
    let condition = seen.header("if-match").map(|tag| format!(" if-match: {tag}")).unwrap_or_default();
    format!("{} {path}{query} {}{condition}", seen.method, seen.body)
        .replace(&ID.to_string(), "ID")
        .trim_end()
        .to_owned()
}

pub(crate) async fn lines(calls: impl AsyncFn(&Client) -> Result<(), Error>) -> Vec<String> {
    let stub = logged_in(answer).await;
    calls(&stub.client()).await.unwrap();
    let seen = stub.calls();
    for call in &seen {
        // Three requests ask by POST; what changes something has a key, and nothing else has.
        let asks = call.method == "GET"
            || call.path().ends_with("/can-pay")
            || ["/v1/limits/status", "/v1/programmes/forecast"].contains(&call.path());
        assert_eq!(call.header("idempotency-key").is_none(), asks, "{}", call.target);
    }
    seen.iter().map(line).collect()
}

pub(crate) fn noon() -> PrimitiveDateTime {
    PrimitiveDateTime::new(Date::from_ordinal_date(2026, 38).unwrap(), Time::from_hms(12, 0, 0).unwrap())
}

#[tokio::test]
async fn employees_and_categories() {
    let sent = lines(async |client| {
        let employees = client.employees();
        let added = NewEmployee { phone: Some("9031234567".to_owned()), ..NewEmployee::new("T-1") };
        assert_eq!(employees.add(&added).await?.phone.as_deref(), Some("9031234567"));
        let update = EmployeeUpdate { email: Patch::Clear, ..EmployeeUpdate::default() };
        assert_eq!(employees.update(ID, &update).await?.status, EmployeeStatus::Work);
        let conditional = employees.update(ID, &update).if_match("\"1f\"").await?;
        assert_eq!(conditional.id_employee, ID);
        assert_eq!(employees.get(ID).await?.employee.id_employee, ID);
        let tagged = employees.get_tagged(ID).await?;
        assert_eq!((tagged.value.employee.id_employee, tagged.etag.as_deref()), (ID, Some("\"1e\"")));
        let filter = EmployeeFilter {
            status: Some(EmployeeStatus::Work),
            id_category: Some(ID),
            custom_id: Some("T-1".to_owned()),
            q: Some("a b".to_owned()),
        };
        assert_eq!(employees.list(&filter, Paging::page(1).per_page(15)).await?.data.len(), 1);
        assert_eq!(employees.erase(ID).await?.id_employee, ID);
        let categories = client.categories();
        categories.create("N").await?;
        categories.rename(ID, "N").await?;
        assert_eq!(categories.delete(ID).await?.name_category, "N");
        assert_eq!(categories.list(Paging::default()).await?.following(), None);
        Ok(())
    })
    .await;
    assert_eq!(
        sent,
        [
            r#"POST /v1/employee/add {"customId":"T-1","phone":"9031234567"}"#,
            r#"PUT /v1/employee/ID {"email":null}"#,
            r#"PUT /v1/employee/ID {"email":null} if-match: "1f""#,
            "GET /v1/employee/ID",
            "GET /v1/employee/ID",
            "GET /v1/employees?customId=T-1&idCategory=ID&page=1&per_page=15&q=a+b&status=WORK",
            "DELETE /v1/employee/ID",
            r#"POST /v1/category {"nameCategory":"N"}"#,
            r#"PUT /v1/category/ID {"nameCategory":"N"}"#,
            "DELETE /v1/category/ID",
            "GET /v1/categories",
        ]
    );
}

#[tokio::test]
async fn cards_and_balance() {
    let sent = lines(async |client| {
        let cards = client.cards();
        assert_eq!(cards.info(ID).await?.limit, CardLimit::unlimited());
        assert_eq!(cards.balance(ID).await?.can_to_up, 6);
        let filter = TransactionFilter {
            from: Some(noon().date()),
            to: None,
            transaction_type: Some(TransactionType::Payment),
        };
        assert_eq!(cards.transactions(ID, &filter, Paging::default()).await?.data.len(), 1);
        let lunch = PaymentQuestion { amount: 500, at: Some(noon()), mcc: Some("5812".to_owned()) };
        assert_eq!(cards.can_pay(ID, &lunch).await?.remaining, Some(7));
        assert!(!cards.can_pay(ID, &PaymentQuestion::new(500)).await?.allowed);
        assert_eq!(cards.available(Some(&CardType::Mlz), Paging::default()).await?.data.len(), 1);
        assert_eq!(cards.link(ID, "4006381333931", &CardStatus::Main).await?.id_card, ID);
        assert_eq!(cards.switch(ID, ID, &CardStatus::Additional).await?.status_card, CardStatus::Main);
        assert_eq!(cards.unlink(ID, ID).await?.id_card, ID);
        let filter = CardFilter {
            linked: Some(false),
            status_card: Some(CardStatus::Main),
            bank_status: Some(BankStatus::Closed),
            type_card: Some(CardType::Mlz),
            order_id: Some(ID),
            id_employee: Some(ID),
            expires_before: Some(noon().date()),
            custom_id_card: Some("8747859702".to_owned()),
        };
        assert_eq!(cards.list(&filter, Paging::default()).await?.data[0].id_card, ID);
        assert_eq!(client.balance().await?.hold, 1);
        Ok(())
    })
    .await;
    assert_eq!(
        sent,
        [
            "GET /v1/card/ID",
            "GET /v1/card/ID/balance",
            "GET /v1/card/ID/transactions?from=07.02.2026&type=PAYMENT",
            r#"POST /v1/card/ID/can-pay {"amount":500,"at":"07.02.2026 12:00","mcc":"5812"}"#,
            r#"POST /v1/card/ID/can-pay {"amount":500}"#,
            "GET /v1/cards/available?typeCard=MLZ",
            r#"POST /v1/employee/ID/link_card {"customIdCard":"4006381333931","statusCard":"MAIN"}"#,
            r#"POST /v1/employee/ID/card/switch {"idCard":"ID","statusCard":"ADDITIONAL"}"#,
            "DELETE /v1/employee/ID/card/ID",
            "GET /v1/cards?bankStatus=CLOSED&customIdCard=8747859702&expiresBefore=07.02.2026&idEmployee=ID&linked=false&orderId=ID&statusCard=MAIN&typeCard=MLZ",
            "GET /v1/balance",
        ]
    );
}

#[tokio::test]
async fn orders() {
    let sent = lines(async |client| {
        let orders = client.orders();
        let plastic = PlasticItem {
            number_cards: 2,
            type_card: CardType::Kkl,
            delivery_address: "A".to_owned(),
            recipient: "R".to_owned(),
            phone: "9031234567".to_owned(),
        };
        assert_eq!(orders.plastic(&[plastic]).await?.order_id, ID);
        orders.virtual_cards(&[VirtualItem::new(2, 5_000)]).await?;
        assert_eq!(orders.status(ID).await?.state, RequestState::Success);
        assert_eq!(orders.result(ID).await?.data.len(), 1);
        assert_eq!(orders.confirm(ID).await?.id, ID);
        orders.cancel(ID).await?;
        assert_eq!(
            orders.list(&RequestFilter::in_state(RequestState::New), Paging::page(1)).await?.data.len(),
            1
        );
        Ok(())
    })
    .await;
    assert_eq!(
        sent,
        [
            r#"POST /v1/order/plasticcards {"data":[{"numberCards":2,"typeCard":"KKL","deliveryAddress":"A","recipient":"R","phone":"9031234567"}]}"#,
            r#"POST /v1/order/virtualcards {"data":[{"numberCards":2,"typeCard":"MLZ","amount":5000}]}"#,
            "GET /v1/order/status/ID",
            "GET /v1/order/result/ID",
            r#"POST /v1/order/confirm/ {"orderId":"ID"}"#,
            r#"POST /v1/order/cancel/ {"orderId":"ID"}"#,
            "GET /v1/orders?page=1&status=NEW",
        ]
    );
}

#[tokio::test]
async fn replenishments_and_limits() {
    let sent = lines(async |client| {
        let replenishments = client.replenishments();
        assert_eq!(
            replenishments
                .create(&[TopUp::new(ID, 100), TopUp::new(CardRef::custom_id("T-1"), 200)])
                .await?
                .replenishment_id,
            ID
        );
        replenishments.status(ID).await?;
        let results = replenishments.result(ID).await?;
        assert!(results.iter().all(|result| result.error_replenishment.as_deref() == Some("expired")));
        replenishments.cancel(ID).await?;
        replenishments.list(&RequestFilter::default(), Paging::default()).await?;
        let limits = client.limits();
        let cards = [CardRef::from(ID), CardRef::number("8747859702"), CardRef::employee(ID)];
        assert_eq!(limits.set(&cards, &CardLimit::per(LimitPeriod::Day, 100)).await?.set_limits_cards_id, ID);
        limits.status(ID).await?;
        limits.cancel(ID).await?;
        assert!(limits.result(ID).await?.iter().all(|result| result.result_limit));
        limits.list(&RequestFilter::in_state(RequestState::Decline), Paging::default()).await?;
        Ok(())
    })
    .await;
    assert_eq!(
        sent,
        [
            r#"POST /v1/replenishment {"cards":[{"idCard":"ID","amountReplenishment":100},{"customId":"T-1","amountReplenishment":200}]}"#,
            "GET /v1/replenishment/status/?idReplenishment=ID",
            "GET /v1/replenishment/result/?idReplenishment=ID",
            "DELETE /v1/replenishment/ID",
            "GET /v1/replenishments",
            r#"POST /v1/setlimitscards {"data":[{"idCard":"ID"},{"customIdCard":"8747859702"},{"idEmployee":"ID"}],"limit":{"unlimited":false,"amount":100,"period":"CDAY","days":[],"times":[]}}"#,
            r#"POST /v1/limits/status {"setLimitsCardsId":"ID"}"#,
            r#"POST /v1/limits/cancel {"setLimitsCardsId":"ID"}"#,
            "GET /v1/limits/result/ID",
            "GET /v1/limits?status=DECLINE",
        ]
    );
}

#[tokio::test]
async fn closings_and_withdrawals() {
    let sent = lines(async |client| {
        let closings = client.closings();
        let card = CardClosing::new(ID, ClosingReason::Stolen);
        assert_eq!(closings.create(&[card]).reference("A-7").await?.closing_id, ID);
        closings.status(ID).await?;
        assert!(closings.result(ID).await?.iter().all(|result| result.amount_returned == 5));
        closings.cancel(ID).await?;
        let listed = closings.list(&RequestFilter::default(), Paging::default()).await?;
        assert_eq!((listed.data[0].amount, listed.data[0].amount_moved), (None, 7));
        let withdrawals = client.withdrawals();
        let cards = [CardWithdrawal::new(ID, 300), CardWithdrawal::all(ID)];
        assert_eq!(withdrawals.create(&cards).await?.withdrawal_id, ID);
        withdrawals.status(ID).await?;
        assert!(withdrawals.result(ID).await?.iter().all(|result| result.amount_withdrawn == 0));
        withdrawals.cancel(ID).await?;
        let filter = RequestFilter { state: Some(RequestState::Decline), ..RequestFilter::default() };
        withdrawals.list(&filter, Paging::default()).await?;
        Ok(())
    })
    .await;
    assert_eq!(
        sent,
        [
            r#"POST /v1/closings {"data":[{"idCard":"ID","reason":"STOLEN"}],"reference":"A-7"}"#,
            "GET /v1/closing/ID/status",
            "GET /v1/closing/ID/result",
            "DELETE /v1/closing/ID",
            "GET /v1/closings",
            r#"POST /v1/withdrawals {"data":[{"idCard":"ID","amount":300},{"idCard":"ID"}]}"#,
            "GET /v1/withdrawal/ID/status",
            "GET /v1/withdrawal/ID/result",
            "DELETE /v1/withdrawal/ID",
            "GET /v1/withdrawals?status=DECLINE",
        ]
    );
}

#[tokio::test]
async fn sandbox() {
    let sent = lines(async |client| {
        let sandbox = client.sandbox();
        assert_eq!(sandbox.deposit(100).await?.available, 4);
        let purchase = Purchase {
            place: Some("P".to_owned()),
            mcc: Some("5812".to_owned()),
            merchant_id: Some("M".to_owned()),
            ..Purchase::new(5)
        };
        assert_eq!(sandbox.purchase(ID, &purchase).await?.transaction_id, Some(9));
        sandbox.purchase(ID, &Purchase { at: Some(noon()), ..purchase }).await?;
        sandbox.purchase(ID, &Purchase::new(5)).await?;
        assert_eq!(sandbox.refund(ID, 9, 5).await?.transaction_id, 9);
        sandbox.activate(ID, Some(&"code".to_owned().into())).await?;
        sandbox.activate(ID, None).await?;
        sandbox.block(ID).await?;
        sandbox.unblock(ID).await?;
        sandbox.expire(ID).await?;
        sandbox.bank(&BankBehaviour { error_rate: 0.5, ..BankBehaviour::default() }).await?;
        sandbox.advance_clock(60).await?;
        Ok(())
    })
    .await;
    assert_eq!(
        sent,
        [
            r#"POST /sandbox/v1/balance/deposit {"amount":100}"#,
            r#"POST /sandbox/v1/card/ID/purchase {"amount":5,"place":"P","mcc":"5812","merchantId":"M"}"#,
            r#"POST /sandbox/v1/card/ID/purchase {"amount":5,"place":"P","mcc":"5812","merchantId":"M","at":"07.02.2026 12:00"}"#,
            r#"POST /sandbox/v1/card/ID/purchase {"amount":5}"#,
            r#"POST /sandbox/v1/card/ID/refund {"transactionId":9,"amount":5}"#,
            r#"POST /sandbox/v1/card/ID/activate {"activationCode":"code"}"#,
            "POST /sandbox/v1/card/ID/activate {}",
            "POST /sandbox/v1/card/ID/block {}",
            "POST /sandbox/v1/card/ID/unblock {}",
            "POST /sandbox/v1/card/ID/expire {}",
            r#"POST /sandbox/v1/bank {"latencyMs":0,"errorRate":0.5,"loseRequestRate":0.0,"loseAnswerRate":0.0,"duplicateRate":0.0,"silentFeed":false,"down":false}"#,
            r#"POST /sandbox/v1/clock/advance {"seconds":60}"#,
        ]
    );
}

#[tokio::test]
async fn a_base_url_may_have_a_path() {
    let stub = logged_in(answer).await;
    let client = Client::builder(format!("{}/cards/", stub.url))
        .api_key("k")
        .login("l")
        .password("p")
        .build()
        .unwrap();
    // The token request is an unknown path to the stub, and fails to decode; where it went is all that counts.
    let _ = client.login().await;
    let targets: BTreeSet<_> = stub.seen().into_iter().map(|seen| seen.target).collect();
    assert_eq!(targets, BTreeSet::from(["/cards/v1/get_access_token".to_owned()]));
}

#[tokio::test]
async fn waiting_tells_each_state_until_the_final_one() {
    let polls = AtomicUsize::new(0);
    let stub = logged_in(move |_| {
        let state = match polls.fetch_add(1, Ordering::SeqCst) {
            0 => "NEW",
            1 => "IN_PROCESS",
            _ => "SUCCESS",
        };
        Reply::json(200, format!(r#"{{"message":"{state}","orderId":"{ID}"}}"#))
    })
    .await;
    let client = stub.client();
    let wait = Wait::default().intervals(Duration::ZERO, Duration::ZERO);
    let mut seen = Vec::new();
    let last = client.orders().wait(ID, wait, |state| seen.push(state.clone())).await.unwrap();
    assert_eq!(last, RequestState::Success);
    assert_eq!(seen, [RequestState::New, RequestState::InProcess, RequestState::Success]);
    // Spawned, because a program waits beside its other work.
    let spawned = tokio::spawn(async move {
        client.replenishments().wait(ID, wait, |_| {}).await.unwrap();
        client.limits().wait(ID, wait, |_| {}).await.unwrap()
    });
    assert_eq!(spawned.await.unwrap(), RequestState::Success);
}
