//! The API behind a real listener.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use kopeck_adapter_http::{HttpSettings, HttpState, serve};
use kopeck_port_store::mock::{InPlaceStore, MockUnit};

use crate::support::parts;

/// Starts the API over `unit`, lets `client` talk to it, and stops it.
pub(crate) fn with_server_over(
    unit: MockUnit,
    settings: HttpSettings,
    client: impl FnOnce(TcpStream) -> String + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut parts = parts(Arc::new(InPlaceStore::new(unit)));
    parts.settings = HttpSettings { workers: 1, ..settings };
    let client = std::thread::spawn(move || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        client(stream)
    });
    actix_web::rt::System::new().block_on(async move {
        let server = serve(listener, HttpState::new(parts)).unwrap();
        let handle = server.handle();
        let running = actix_web::rt::spawn(server);
        let told = actix_web::rt::task::spawn_blocking(move || client.join().unwrap()).await.unwrap();
        handle.stop(true).await;
        running.await.unwrap().unwrap();
        told
    })
}
