//! What a bank can do.

use kopeck_port_bank::{Capabilities, Capability};
use serde::{Deserialize, Serialize};

/// What the bank can do: everything but what it lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilitiesResponse {
    /// Names of [`Capability`] that the bank lacks. Unknown names say nothing to this version.
    #[serde(default)]
    pub without: Vec<String>,
    /// The most instructions or keys of a request, if it is less than [`MOST_INSTRUCTIONS`](crate::MOST_INSTRUCTIONS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_batch: Option<u32>,
}

impl From<Capabilities> for CapabilitiesResponse {
    fn from(capabilities: Capabilities) -> Self {
        Self {
            without: capabilities.missing().map(|capability| capability.name().to_owned()).collect(),
            largest_batch: Some(capabilities.largest_batch()),
        }
    }
}

impl From<CapabilitiesResponse> for Capabilities {
    fn from(dto: CapabilitiesResponse) -> Self {
        let missing = dto.without.iter().filter_map(|name| Capability::from_name(name));
        Self::without(missing).with_largest_batch(dto.largest_batch.unwrap_or(Self::LARGEST_BATCH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_bank_lacks_survives_the_wire() {
        for capabilities in [
            Capabilities::EVERYTHING,
            Capabilities::without(Capability::ALL).with_largest_batch(7),
            Capabilities::without([Capability::Feed]),
        ] {
            let json = serde_json::to_string(&CapabilitiesResponse::from(capabilities)).unwrap();
            let read: CapabilitiesResponse = serde_json::from_str(&json).unwrap();
            assert_eq!(Capabilities::from(read), capabilities, "{json}");
        }
        let read = |json| Capabilities::from(serde_json::from_str::<CapabilitiesResponse>(json).unwrap());
        assert_eq!(read("{}"), Capabilities::EVERYTHING);
        assert_eq!(
            read(r#"{"without":["feed","teleport"],"x":1}"#),
            Capabilities::without([Capability::Feed])
        );
    }
}
