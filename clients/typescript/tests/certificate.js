/** A certificate without a signature of an authority, valid for a hundred years, for tests alone. Its key protects nothing. */

export const cert = `-----BEGIN CERTIFICATE-----
MIIBGTCBwaADAgECAgEBMAoGCCqGSM49BAMCMBYxFDASBgNVBAMMC2tvcGVjayB0
ZXN0MCAXDTI2MDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAWMRQwEgYDVQQD
DAtrb3BlY2sgdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJq0z8rzP3iC
fK1OGaLffKy+Ocs+AN6xvwxv+Qdt6uWfKY7gEpdshXD2mMUCJuiKLvIHLnOwKyA5
rBo6VumxQkMwCgYIKoZIzj0EAwIDRwAwRAIgNMFhYJ5ls8hxyIbtzdZVhqLAYX6D
HaTsk6PNQFZFwzUCIEyHpImIJyaNyPF35v00oQ8cg5hSF/qh07MSHsxvzeEI
-----END CERTIFICATE-----
`;

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcYkJSLPqIvlxQiY/
Q0fNNBE3fy/FMBgqFktbRJY+7RehRANCAASatM/K8z94gnytThmi33ysvjnLPgDe
sb8Mb/kHberlnymO4BKXbIVw9pjFAiboii7yBy5zsCsgOawaOlbpsUJD
-----END PRIVATE KEY-----
`;
