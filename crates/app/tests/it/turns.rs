//! Workers take the jobs of partners in turns: one job does not wait behind another partner's hundred.

use kopeck_domain::partner::SealingPolicy;

use crate::calls::Api;
use crate::server::{SETTINGS, TestServer};

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
