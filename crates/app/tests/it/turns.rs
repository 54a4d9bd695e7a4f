//! Partners are served in turns: a job or a large call does not wait behind another partner's hundred.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use kopeck_domain::partner::SealingPolicy;
use serde_json::json;

use crate::api_client::Api;
use crate::raw_http::{optional, post};
use crate::server::{SETTINGS, TestServer};

/// So many that large requests take longer than one of them may wait.
const FLOODERS: usize = 40;

/// More requests than a worker takes at once, all of them due before the other partner's.
#[tokio::test]
async fn a_single_top_up_does_not_wait_for_another_partners_hundred() {
    let server = TestServer::start();
    let (busy, quiet) =
        (server.partner(SealingPolicy::Optional, 10_000), server.partner(SealingPolicy::Optional, 10_000));
    let (busy, quiet) = (Api::login(&server, &busy).await, Api::login(&server, &quiet).await);
    let cards = busy.main_cards(&server, 100).await;
    let card = quiet.main_cards(&server, 1).await.remove(0);
    let mut queue = Vec::new();
    for card in &cards {
        queue.push(busy.top_up(&[(card, 10)]).await);
    }
    server.clock.advance(SETTINGS.processing_delay);
    let single = quiet.top_up(&[(&card, 10)]).await;
    server.clock.advance(SETTINGS.processing_delay);

    assert_eq!(server.one_round(), 4);
    assert_eq!(quiet.top_up_state(&single).await, "SUCCESS");
    assert_eq!(busy.top_up_state(&queue[0]).await, "SUCCESS");
    assert_eq!(busy.top_up_state(&queue[99]).await, "NEW");
    server.work_now();
}

/// A hundred large calls of one partner at once, again and again, are more than the server decodes within the time that
/// a call waits.
#[test]
fn a_large_call_does_not_wait_for_another_partners_hundred() {
    let server = TestServer::start();
    let (_, busy) = optional(&server);
    let (_, quiet) = optional(&server);
    let cards: Vec<_> = (0..10_000)
        .map(|number| json!({"idCard": uuid::Uuid::from_u128(number), "amountReplenishment": 1}))
        .collect();
    let flood = json!({"cards": cards});
    let call = json!({"cards": &cards[..600]});
    let ended = AtomicBool::new(false);
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        let flooding = || {
            while !ended.load(Ordering::Relaxed) {
                let status = post("/v1/replenishment", &flood).token(&busy).send(&server).status;
                assert!([404, 503].contains(&status), "{status}");
                answered.fetch_add(1, Ordering::Relaxed);
            }
        };
        (0..FLOODERS).for_each(|_| drop(scope.spawn(flooding)));
        // From here on the others wait.
        while answered.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        let statuses: Vec<u16> =
            (0..5).map(|_| post("/v1/replenishment", &call).token(&quiet).send(&server).status).collect();
        ended.store(true, Ordering::Relaxed);
        assert_eq!(statuses, [404; 5]);
    });
}
