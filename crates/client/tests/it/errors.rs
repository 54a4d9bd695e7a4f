//! Errors in every shape that the service has for them.

use kopeck_client::{CardLimit, Error, ErrorCode, SealingKey, TopUp, Uuid};

use crate::stub::{RecordedRequest, Reply, Stub, logged_in};

const CARD: Uuid = Uuid::from_u128(0x0f8f_ad5b_d9cb_469f_a165_7086_7728_950e);

#[tokio::test]
async fn faulty_cards_come_as_a_list_with_their_status() {
    for (status, code) in [(404, "card_not_found"), (409, "card_in_request")] {
        let body = format!(
            r#"[{{"message":"first","code":"{code}","idCard":"{CARD}"}},{{"message":"second","code":"card_expired"}}]"#
        );
        let stub = logged_in(move |_| Reply::json(status, body.clone()).header("x-request-id", "r-7")).await;
        let client = stub.client();
        let replenishment = client.replenishments().create(&[TopUp::new(CARD, 100)]).await.unwrap_err();
        let limits = client.limits().set(&[CARD], &CardLimit::unlimited()).await.unwrap_err();
        for error in [replenishment, limits] {
            assert_eq!(error.code(), Some(&ErrorCode::from(code)));
            let Error::Cards { status: seen, faults, request_id } = error else { panic!("{error:?}") };
            assert_eq!((seen, request_id.as_deref()), (status, Some("r-7")));
            let [first, second] = faults.as_slice() else { panic!("{faults:?}") };
            assert_eq!((first.id_card, first.message.as_str()), (Some(CARD), "first"));
            assert_eq!((second.id_card, second.code.as_ref()), (None, Some(&ErrorCode::CardExpired)));
        }
    }
}

#[tokio::test]
async fn one_fault_of_limits_comes_as_an_object() {
    let stub = logged_in(|_| Reply::json(409, r#"{"code":"limit_conflict","message":"both"}"#)).await;
    let error = stub.client().limits().set(&[CARD], &CardLimit::unlimited()).await.unwrap_err();
    assert!(
        matches!(error, Error::Api { status: 409, code: Some(ErrorCode::LimitConflict), .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn faulty_fields_come_as_a_list() {
    let body = r#"{"success":false,"data":[{"field":"cards[3].idCard","message":"incorrect value passed","detail":"twice"}]}"#;
    let stub = logged_in(move |_| Reply::json(422, body)).await;
    let error = stub.client().replenishments().create(&[TopUp::new(CARD, 100)]).await.unwrap_err();
    let Error::Invalid { faults, .. } = error else { panic!("{error:?}") };
    let [fault] = faults.as_slice() else { panic!("{faults:?}") };
    assert_eq!((fault.field.as_str(), fault.detail.as_deref()), ("cards[3].idCard", Some("twice")));
}

#[tokio::test]
async fn a_clock_that_is_off_is_named_beside_the_refusal_of_a_sealed_value() {
    const REFUSED: &str = r#"{"success":false,"data":[{"field":"body","message":"incorrect value passed"}]}"#;
    let refuse =
        |_: &RecordedRequest| Reply::json(422, REFUSED).header("date", "Tue, 03 Mar 2026 09:30:00 GMT");
    let stub = Stub::start(refuse).await;
    let clock = || 1_772_530_200 - 1_000;
    let key = SealingKey::parse("sk_obLD1OX2BxgAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw").unwrap();
    let sealing = stub.builder().sealing_key(key).clock(clock).build().unwrap();
    let error = sealing.balance().await.unwrap_err();
    let expected = "faulty values: body: incorrect value passed; your clock is 1000 s behind the service's";
    assert_eq!(error.to_string(), expected);
    let clear = stub.builder().clock(clock).build().unwrap();
    let error = clear.balance().await.unwrap_err();
    assert_eq!(error.to_string(), "faulty values: body: incorrect value passed");
}

#[tokio::test]
async fn an_answer_of_another_form_is_an_error_and_the_call_not_repeated() {
    for body in ["{}", "<html>", ""] {
        let stub = logged_in(move |_| Reply::json(200, body)).await;
        assert!(matches!(stub.client().balance().await.unwrap_err(), Error::Decode(_)));
        assert_eq!(stub.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let stub = logged_in(|_| Reply::json(307, "").header("location", "/elsewhere")).await;
    assert_eq!(stub.client().balance().await.unwrap_err().status(), Some(307));
    assert_eq!(stub.count("/elsewhere"), 0);
}
