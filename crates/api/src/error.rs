//! The bodies of errors, and the one of a success without content.

use uuid::Uuid;

use crate::error_code::ErrorCode;
use crate::shape::{OrAbsent, body};

body! {
    /// Confirms that the request was carried out.
    #[derive(Copy)]
    pub struct Done as "Done" {
        /// `true`.
        success: bool,
    }
}

body! {
    /// An error.
    pub struct CodedError as "Error" {
        /// `false`.
        success: bool,
        /// The reason, for your program.
        code: ErrorCode,
        /// The reason, for a person to read.
        message: String,
        /// Of `reference_taken`: the run that has the reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id_run: Option<Uuid> as OrAbsent<Uuid>,
    }
}

body! {
    /// 422: all invalid fields of a request.
    pub struct FaultyFields as "FaultyFields" {
        /// `false`.
        success: bool,
        /// The invalid fields, in the order in which they were found.
        data: Vec<FaultyField>,
    }
}

body! {
    /// An invalid field, parameter or header.
    pub struct FaultyField as "FaultyField" {
        /// Its name. An item of a list is named `cards[3].idCard`, a path identifier by its placeholder;
        /// `body` stands for a body that cannot be read at all. Names that the operation does not have are
        /// reported as `body` or `query`.
        field: String,
        /// Always `incorrect value passed`.
        message: String,
        /// The reason, human-readable.
        detail: String,
    }
}

body! {
    /// A card because of which a request for many cards was refused.
    pub struct FaultyCard as "FaultyCard" {
        /// The reason, for a person to read.
        message: String,
        /// The reason, for your program.
        code: ErrorCode,
        /// The card; absent if the request names it otherwise and there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id_card: Option<Uuid> as OrAbsent<Uuid>,
        /// Its number, if that is how the request names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        custom_id_card: Option<String> as OrAbsent<String>,
        /// The employee, if that is how the request names the card.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id_employee: Option<Uuid> as OrAbsent<Uuid>,
        /// The employee's `customId`, if that is how the request names the card.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        custom_id: Option<String> as OrAbsent<String>,
    }
}
