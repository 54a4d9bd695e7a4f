use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::test::TestRequest;

use super::*;

const PROXIES: &str = "10.0.0.0/8, 192.0.2.1,fd00::/8";

/// The address of a request from `peer` with these header lines, where [`PROXIES`] are trusted.
fn address_by(header: ProxyHeader, peer: &str, lines: &[(&str, &[u8])]) -> String {
    let mut request = TestRequest::default();
    if let Ok(peer) = peer.parse() {
        request = request.peer_addr(std::net::SocketAddr::new(peer, 4_000));
    }
    for (name, value) in lines {
        let name: HeaderName = name.parse().unwrap();
        request = request.append_header((name, HeaderValue::from_bytes(value).unwrap()));
    }
    ClientAddress::of(&request.to_http_request(), &PROXIES.parse().unwrap(), header).to_string()
}

fn address(peer: &str, lines: &[(&str, &str)]) -> String {
    let lines: Vec<_> = lines.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    address_by(ProxyHeader::Any, peer, &lines)
}

#[test]
fn the_peer_counts_unless_it_is_a_trusted_proxy() {
    let claim = [("x-forwarded-for", "198.51.100.1"), ("forwarded", "for=198.51.100.2")];
    for peer in ["203.0.113.5", "2001:db8::5", "192.0.2.2", "11.0.0.1"] {
        assert_eq!(address(peer, &claim), peer);
        assert_eq!(address(peer, &[]), peer);
    }
    assert_eq!(address("::ffff:203.0.113.5", &claim), "203.0.113.5");
    assert_eq!(
        address("::ffff:10.0.0.1", &claim),
        "198.51.100.2",
        "a mapped address of a proxy is the proxy's"
    );
    assert_eq!(address("no peer", &claim), "-");
}

#[test]
fn x_forwarded_for_is_read_from_the_right() {
    for (lines, expected) in [
        (&["203.0.113.5"][..], "203.0.113.5"),
        (&["198.51.100.1, 203.0.113.5"], "203.0.113.5"),
        (&["198.51.100.1,203.0.113.5 ,\t10.1.1.1, 192.0.2.1"], "203.0.113.5"),
        (&["198.51.100.1", "203.0.113.5", "10.1.1.1"], "203.0.113.5"),
        (&["198.51.100.1, 203.0.113.5", "10.1.1.1, fd00::1"], "203.0.113.5"),
        (&["2001:db8::7"], "2001:db8::7"),
        (&["[2001:db8::7]"], "2001:db8::7"),
        (&["[2001:db8::7]:443"], "2001:db8::7"),
        (&["203.0.113.5:51000"], "203.0.113.5"),
        (&["::ffff:203.0.113.5"], "203.0.113.5"),
        (&["::ffff:10.0.0.9"], "-"),
        (&["\", 203.0.113.5"], "203.0.113.5"),
        (&["\"", "203.0.113.5"], "203.0.113.5"),
        // No hop at all, or only trusted ones.
        (&[], "-"),
        (&["10.0.0.2, 10.0.0.1"], "-"),
        // The last untrusted hop is no address.
        (&[""], "-"),
        (&["203.0.113.5,"], "-"),
        (&["203.0.113.5, unknown"], "-"),
        (&["203.0.113.5, unknown, 10.0.0.1"], "-"),
        (&["203.0.113.5, localhost"], "-"),
        (&["203.0.113.5, 203.0.113"], "-"),
        (&["203.0.113.5, 203.0.113.6:"], "-"),
        (&["203.0.113.5, 203.0.113.6:123456"], "-"),
        (&["203.0.113.5, 203.0.113.6:http"], "-"),
        (&["203.0.113.5, [2001:db8::7"], "-"),
        (&["203.0.113.5, [2001:db8::7]443"], "-"),
        (&["203.0.113.5, [203.0.113.6]"], "-"),
        (&["203.0.113.5, fe80::1%eth0"], "-"),
        (&["203.0.113.5, 203.0.113.6 203.0.113.7"], "-"),
    ] {
        let lines: Vec<_> = lines.iter().map(|line| ("x-forwarded-for", *line)).collect();
        assert_eq!(address("10.0.0.1", &lines), expected, "{lines:?}");
    }
}

#[test]
fn forwarded_is_read_from_the_right() {
    for (lines, expected) in [
        (&["for=203.0.113.5"][..], "203.0.113.5"),
        (&["For=\"203.0.113.5:51000\";proto=https;by=10.0.0.1"], "203.0.113.5"),
        (&["proto=https ; FOR = 203.0.113.5 ;"], "203.0.113.5"),
        (&["for=198.51.100.1, for=203.0.113.5;host=\"a,b;for=198.51.100.2\""], "203.0.113.5"),
        (&["for=198.51.100.1, for=203.0.113.5;host=\"a\\\",for=198.51.100.2\""], "203.0.113.5"),
        (&["for=198.51.100.1, for=203.0.113.5;host=\"a\\\\\", for=10.0.0.3"], "203.0.113.5"),
        (&["for=\"[2001:db8::7]\""], "2001:db8::7"),
        (&["for=\"[2001:db8::7]:4711\""], "2001:db8::7"),
        (&["for=\"[2001:db8::7]:_port\""], "2001:db8::7"),
        (&["for=203.0.113.5, for=\"[fd00::9]\"", "for=10.0.0.3"], "203.0.113.5"),
        // A quotation mark that the client left open hides nothing.
        (&["for=\"198.51.100.1, for=203.0.113.5"], "203.0.113.5"),
        (&["for=\"", "for=203.0.113.5"], "203.0.113.5"),
        (&["for=\"a\\", "for=203.0.113.5"], "203.0.113.5"),
        // Obfuscated, unknown and malformed hops are no address.
        (&["for=198.51.100.1, for=_hidden"], "-"),
        (&["for=198.51.100.1, for=\"_hidden:80\""], "-"),
        (&["for=198.51.100.1, for=unknown"], "-"),
        (&["for=198.51.100.1, proto=https"], "-"),
        (&["for=198.51.100.1, for"], "-"),
        (&["for=198.51.100.1, for="], "-"),
        (&["for=198.51.100.1, for=\"203.0.113.5"], "-"),
        (&["for=203.0.113.5;for=203.0.113.6"], "-"),
        (&["for=198.51.100.1,"], "-"),
        (&["for=10.0.0.3"], "-"),
    ] {
        let lines: Vec<_> = lines.iter().map(|line| ("forwarded", *line)).collect();
        assert_eq!(address("10.0.0.1", &lines), expected, "{lines:?}");
    }
}

#[test]
fn with_both_headers_forwarded_alone_counts_unless_the_operator_says_otherwise() {
    let both: [(&str, &[u8]); 2] = [("x-forwarded-for", b"203.0.113.5"), ("forwarded", b"for=203.0.113.6")];
    let [x_forwarded_for, forwarded] = both;
    for (header, lines, expected) in [
        (ProxyHeader::Any, &both[..], "203.0.113.6"),
        (ProxyHeader::Any, &[x_forwarded_for], "203.0.113.5"),
        (ProxyHeader::Any, &[x_forwarded_for, ("forwarded", b"for=_hidden")], "-"),
        (ProxyHeader::Forwarded, &both, "203.0.113.6"),
        (ProxyHeader::Forwarded, &[x_forwarded_for], "-"),
        (ProxyHeader::XForwardedFor, &both, "203.0.113.5"),
        (ProxyHeader::XForwardedFor, &[forwarded], "-"),
    ] {
        assert_eq!(address_by(header, "10.0.0.1", lines), expected, "{header:?} {lines:?}");
    }
}

/// Bytes beyond ASCII, as a client may send them, spoil their own element alone.
#[test]
fn a_client_cannot_hide_behind_bytes_that_are_no_text() {
    for (line, expected) in [(&b"\xff\xfe, 203.0.113.5"[..], "203.0.113.5"), (b"203.0.113.5, \xff", "-")] {
        assert_eq!(address_by(ProxyHeader::Any, "10.0.0.1", &[("x-forwarded-for", line)]), expected);
    }
}

/// Reading in quadratic time would take hours.
#[test]
fn a_long_header_is_read_in_linear_time() {
    for junk in ["10.0.0.1,", "\"", "\\", "\\\"", ";,", "for=10.0.0.1;", "a"] {
        let line = junk.repeat(1 << 16) + ",";
        assert_eq!(address("10.0.0.1", &[("forwarded", &line)]), "-");
        assert_eq!(address("10.0.0.1", &[("x-forwarded-for", line.trim_end_matches(','))]), "-");
    }
}

#[test]
fn clients_are_counted_by_ipv4_address_and_ipv6_network() {
    for (address, expected) in [
        (Some("203.0.113.5"), Some("203.0.113.5/32")),
        (Some("2001:db8:1:2:3:4:5:6"), Some("2001:db8:1:2::/64")),
        (Some("2001:db8:1:2:ffff::"), Some("2001:db8:1:2::/64")),
        (Some("2001:db8:1:3::"), Some("2001:db8:1:3::/64")),
        (None, None),
    ] {
        let client = ClientAddress(address.map(|address| address.parse().unwrap()));
        assert_eq!(client.network().map(|net| net.to_string()).as_deref(), expected);
    }
}

#[test]
fn lists_of_proxies_are_read() {
    for text in ["", " "] {
        assert_eq!(text.parse::<TrustedProxies>().unwrap(), TrustedProxies::default());
    }
    let proxies: TrustedProxies = "10.1.2.3/8,::1".parse().unwrap();
    for (address, trusted) in [("10.255.0.1", true), ("11.0.0.1", false), ("::1", true), ("::2", false)] {
        assert_eq!(proxies.contains(address.parse().unwrap()), trusted, "{address}");
    }
    for (blocks, address, trusted) in [
        ("::ffff:10.0.0.0/104", "10.255.0.1", true),
        ("::ffff:10.0.0.0/104", "11.0.0.1", false),
        ("::ffff:10.0.0.1", "10.0.0.1", true),
        ("::ffff:10.0.0.1/128", "10.0.0.2", false),
        ("::ffff:0:0/96", "203.0.113.5", true),
        ("::ffff:0:0/96", "2001:db8::1", false),
    ] {
        let proxies: TrustedProxies = blocks.parse().unwrap();
        assert_eq!(proxies.contains(address.parse().unwrap()), trusted, "{blocks} {address}");
    }
    for text in [
        "::ffff:10.0.0.0/95",
        "::ffff:10.0.0.0/8",
        "10.0.0.0/33",
        "10.0.0.0/8,",
        "proxy.example",
        "10.0.0.0/8 11.0.0.0/8",
    ] {
        assert!(text.parse::<TrustedProxies>().is_err(), "{text}");
    }
}
