//! Certificates for tests of TLS. Other crates' tests include this file.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose,
};

/// A certificate authority.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate with its private key, both PEM.
pub(crate) struct Certified {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = named(name, Vec::new());
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Its own certificate, PEM.
    pub(crate) fn certificate(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a server of this name or address, or for a client.
    pub(crate) fn certify(&self, name: &str) -> Certified {
        let mut params = named(name, vec![name.to_owned()]);
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap().pem();
        Certified { certificate, key: key.serialize_pem() }
    }
}

fn named(common_name: &str, alternative_names: Vec<String>) -> CertificateParams {
    let mut params = CertificateParams::new(alternative_names).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}
