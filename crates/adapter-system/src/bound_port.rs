//! A port that is bound before its server exists.

use std::io;
use std::net::{SocketAddr, TcpListener};

use anyhow::Context as _;
use socket2::{Domain, Socket, Type};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1_024;

/// A bound port. It refuses connections until it listens.
pub struct BoundPort {
    socket: Socket,
    address: SocketAddr,
}

impl BoundPort {
    /// Binds `address`; port 0 binds a free one.
    ///
    /// # Errors
    /// If another process has it, or the address is not one of this machine.
    pub fn bind(address: SocketAddr) -> anyhow::Result<Self> {
        let socket = bound(address).with_context(|| cannot(address))?;
        Ok(Self { socket, address })
    }

    /// Accepts connections from now on.
    ///
    /// # Errors
    /// If another process took the port at the same moment and listened first.
    pub fn listen(self) -> anyhow::Result<TcpListener> {
        self.socket.listen(BACKLOG).with_context(|| cannot(self.address))?;
        Ok(self.socket.into())
    }
}

fn bound(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // Like std: connections of a server that has just ended do not keep the port.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn cannot(address: SocketAddr) -> String {
    format!("cannot listen on {address}")
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn a_taken_port_is_refused_and_a_bound_one_does_not_accept_yet() {
        let port = BoundPort::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = port.socket.local_addr().unwrap().as_socket().unwrap();
        assert!(TcpStream::connect(address).is_err());
        let listener = port.listen().unwrap();
        TcpStream::connect(address).unwrap();
        let refused = BoundPort::bind(address).err().unwrap().to_string();
        assert_eq!(refused, format!("cannot listen on {address}"));
        drop(listener);
    }
}
