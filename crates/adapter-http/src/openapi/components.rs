//! The shared components of operations: headers, errors, the sealed envelope, security schemes.

use kopeck_api::{self as api, Code, HasShape as _};

use super::guide::Guide;
use super::operation::with_examples;
use crate::entity_tag::IF_MATCH;
use crate::file_format::FileFormat;
use crate::ignored::IGNORED;
use crate::json::{Json, object};
use crate::operation::{Effect, Operation};
use crate::pipeline::head::{
    JSON, KEY_CHARS, KEY_PATTERN, NONCE_CHARS, NONCE_PATTERN, REQUEST_ID_PATTERN, SEALED_JSON,
};
use crate::rate_limit::{RATE_LIMIT, RATE_LIMIT_PATTERN, RATE_LIMIT_POLICY, RATE_LIMIT_POLICY_PATTERN};
use crate::schema::{
    Components, HasSchema as _, Property, integer, object_of, of_shape, pattern, reference, words,
};

/// The errors of any request: status code, name of the response, error code.
const COMMON: &[(u16, &str, Code)] = &[
    (401, "Unauthorized", Code::Unauthorized),
    (403, "Forbidden", Code::Forbidden),
    (405, "MethodNotAllowed", Code::MethodNotAllowed),
    (408, "RequestTimeout", Code::RequestTimeout),
    (409, "RequestInProgress", Code::RequestInProgress),
    (413, "PayloadTooLarge", Code::PayloadTooLarge),
    (414, "UriTooLong", Code::UriTooLong),
    (415, "UnsupportedMediaType", Code::UnsupportedMediaType),
    (429, "TooManyRequests", Code::TooManyRequests),
    (500, "InternalError", Code::Internal),
    (503, "Busy", Code::Internal),
];

/// Headers of every response to a request with an access token.
pub(super) const OF_PARTNER: [&str; 3] = ["RateLimitPolicy", "RateLimit", "Ignored"];

/// The name of the common 422.
pub(super) const FAULTY: &str = "FaultyValues";

/// The security scheme of an operation, with the scopes that it needs.
pub(super) fn security(operation: &Operation) -> Json {
    match operation.effect {
        Effect::Login | Effect::Refresh => object! {"apiKey": Json::List(Vec::new())},
        Effect::Read(_) | Effect::Mutate(_) => {
            let scopes = operation.needs.scopes().map(|scope| scope.as_str());
            object! {"accessToken": Json::list(scopes)}
        }
    }
}

/// The name of the common error with this status code.
pub(super) fn common_name(status: u16) -> &'static str {
    COMMON.iter().find(|(of, ..)| *of == status).map_or("", |(_, name, _)| name)
}

pub(super) fn common_code(status: u16) -> Option<Code> {
    COMMON.iter().find(|(of, ..)| *of == status).map(|(.., code)| *code)
}

/// A body that may be plaintext, as `clear`, or sealed.
pub(super) fn content(clear: Json) -> Json {
    let sealed = object! {"schema": reference("schemas", "Sealed")};
    Json::Object(vec![(JSON.to_owned(), clear), (SEALED_JSON.to_owned(), sealed)])
}

pub(super) fn response(about: &str, schema: Json, headers: &[&str], examples: Vec<Json>) -> Json {
    let all = ["RequestId", "CacheControl", "ContentTypeOptions", "ContentSecurityPolicy"];
    let headers =
        all.iter().chain(headers).map(|name| (header_name(name).to_owned(), reference("headers", name)));
    object! {
        "description": about,
        "headers": Json::Object(headers.collect()),
        "content": content(with_examples(object! {"schema": schema}, examples)),
    }
}

/// Adds the media types of files.
pub(super) fn or_files(response: Json, forms: &[FileFormat]) -> Json {
    let Some(content) = response.get("content").cloned() else { return response };
    response.with("content", and_files(content, forms))
}

/// The content of a body with the media types of files.
pub(super) fn and_files(content: Json, forms: &[FileFormat]) -> Json {
    let Json::Object(content) = content else { return content };
    // A binary file has no schema.
    let file = |form: &FileFormat| {
        let media = form.media_type();
        let content = if media.starts_with("text/") {
            object! {"schema": object! {"type": "string"}}
        } else {
            object! {}
        };
        (media.to_owned(), content)
    };
    Json::Object(content.into_iter().chain(forms.iter().map(file)).collect())
}

/// An error with one of the codes `coded`, or with a list of cards with one of `cards`; a 422 names fields.
pub(super) fn refusal(
    status: u16,
    (coded, cards): (&[Code], &[Code]),
    examples: Vec<Json>,
    guide: &Guide<'_>,
    components: &mut Components,
) -> Json {
    let mut schemas = Vec::new();
    if status == 422 {
        schemas.push(of_shape(&api::FaultyFields::SHAPE, components));
    }
    if !cards.is_empty() {
        let card = with_codes(of_shape(&api::FaultyCard::SHAPE, components), cards);
        schemas.push(object! {"type": "array", "minItems": 1, "items": card});
    }
    if !coded.is_empty() {
        schemas.push(with_codes(of_shape(&api::CodedError::SHAPE, components), coded));
    }
    let schema = match <[Json; 1]>::try_from(schemas) {
        Ok([schema]) => schema,
        Err(schemas) => object! {"anyOf": schemas},
    };
    let own: &[&str] = match status {
        401 => &["WwwAuthenticate"],
        405 => &["Allow"],
        409 if coded.contains(&Code::RequestInProgress) => &["RetryAfter"],
        429 | 503 => &["RetryAfter"],
        _ => &[],
    };
    // These errors come before authentication.
    let of_partner: &[&str] = if matches!(status, 400 | 401 | 405 | 414) { &[] } else { &OF_PARTNER };
    let headers = [of_partner, own].concat();
    response(&meaning(status, &[cards, coded].concat(), guide), schema, &headers, examples)
}

/// All referenced components.
pub(super) fn components(mut components: Components, guide: &Guide<'_>) -> Json {
    let common = COMMON.iter().map(|(status, name, code)| {
        ((*name).to_owned(), refusal(*status, (&[*code], &[]), Vec::new(), guide, &mut components))
    });
    let mut common: Vec<(String, Json)> = common.collect();
    common.push((FAULTY.to_owned(), refusal(422, (&[], &[]), Vec::new(), guide, &mut components)));
    sealed(&mut components);
    Code::schema(&mut components);
    object! {
        "schemas": components.into_json(),
        "parameters": parameters(),
        "headers": headers(),
        "responses": Json::Object(common),
        "securitySchemes": object! {
            "accessToken": object! {
                "type": "http", "scheme": "bearer",
                "description": "The access token of a pair. The bare token without `Bearer` is accepted too. An operation names \
                    the scopes that it needs, all of them.",
            },
            "apiKey": object! {
                "type": "apiKey", "in": "header", "name": "x-api-key",
                "description": "Your API key, for the two token requests.",
            },
        },
    }
}

/// Adds the codes of this response to the reference of its body: validators read both, generators of
/// clients use one
/// type with all codes.
fn with_codes(body: Json, codes: &[Code]) -> Json {
    body.with("properties", object! {"code": words(codes.iter().map(|code| code.as_str()))})
}

fn meaning(status: u16, codes: &[Code], guide: &Guide<'_>) -> String {
    if status == 422 {
        return "Invalid values: all invalid fields, parameters and headers.".to_owned();
    }
    let told = codes.iter().map(|code| {
        let meaning = guide.code(status, *code).unwrap_or_default();
        format!("`{}`: {meaning}.", code.as_str())
    });
    told.collect::<Vec<_>>().join(" ")
}

/// The sealed envelope.
fn sealed(components: &mut Components) {
    components.named("SealedText", |_| {
        pattern("^s1[.][A-Za-z0-9_-]+$", "s1. and base64url").with(
            "description",
            "A sealed value: `s1.` and the base64url, without padding, of header (33 bytes), ciphertext and tag (16 \
             bytes). It stands in place of a whole body, of a top-level field of a body, of an identifier in the path, \
             of a query parameter, or, as `sealed`, of all of them.",
        )
    });
    components.named("Sealed", |_| {
        let schema = reference("schemas", "SealedText");
        object_of(vec![Property { name: "sealed".to_owned(), required: true, schema }]).with(
            "description",
            "A body that is sealed as a whole: slot `body`, direction `req` in a request and `res` in a response, bound to \
             method, path and `x-nonce` of the request, and to the status code of the response.",
        )
    });
}

fn parameters() -> Json {
    let header = |name: &str,
                  required: bool,
                  (least, most): (usize, usize),
                  form: (&str, &str),
                  about: &str| {
        let schema =
            pattern(form.0, form.1).with("minLength", integer(least)).with("maxLength", integer(most));
        object! {"name": name, "in": "header", "required": required, "description": about, "schema": schema}
    };
    object! {
        "Nonce": header("x-nonce", true, NONCE_CHARS, (NONCE_PATTERN, "of A-Z a-z 0-9 . _ ~ + / = -"),
            "128 random bits, new for each request; a retry keeps it, except of a token request. A 2xx response to a sealed \
             request that changes something spends it: for 20 minutes the same nonce is refused with another \
             `idempotency-key`, with an added or with a removed one."),
        "IdempotencyKey": header("idempotency-key", false, KEY_CHARS, (KEY_PATTERN, "visible ASCII"),
            "The idempotency key; default: the `x-nonce`. A retry with the same key gets the recorded response and changes \
             nothing. A retry of a sealed request keeps its key, since its `x-nonce` is bound to it."),
        // Several tags may stand in it, with commas between them.
        "IfMatch": object! {
            "name": IF_MATCH, "in": "header", "required": false, "schema": object! {"type": "string"},
            "description": "The `etag` of the version that you have read, with its quotes: the change is refused with 412 if the \
                employee has changed since.",
        },
        // Another one is passed over, so it is no fault.
        "RequestId": object! {
            "name": "x-request-id", "in": "header", "required": false, "schema": object! {"type": "string"},
            "description": "Your own identifier of the request, 1 to 64 of `A-Z a-z 0-9 . _ -`; any other value is ignored.",
        },
    }
}

fn headers() -> Json {
    let header = |required: bool, schema: Json, about: &str| {
        object! {"required": required, "description": about, "schema": schema}
    };
    let text = || object! {"type": "string"};
    object! {
        "RequestId": header(true, pattern(REQUEST_ID_PATTERN, "1 to 64 of A-Z a-z 0-9 . _ -"),
            "Your identifier of the request, or one that the service generates. Quote it when you contact support."),
        "CacheControl": header(true, object! {"const": "no-store"}, "Always."),
        "ContentTypeOptions": header(true, object! {"const": "nosniff"}, "Always."),
        "ContentSecurityPolicy":
            header(true, object! {"const": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"}, "Always."),
        "IdempotentReplayed": header(false, words(["true"]), "`true` if this is a recorded response."),
        "EntityTag": header(true, pattern("^\"[0-9a-f]{32}\"$", "32 hexadecimal digits in quotes"),
            "The version of the employee's own fields, for `if-match`. Linked cards are not part of it."),
        "RateLimitPolicy": header(false, pattern(RATE_LIMIT_POLICY_PATTERN, r#""partner";q=calls;w=seconds"#),
            "With an access token, if there is a rate limit: `q` requests within `w` seconds."),
        "RateLimit": header(false, pattern(RATE_LIMIT_PATTERN, r#""partner";r=calls;t=seconds"#),
            "With an access token, if there is a rate limit: `r` requests are left; the limit resets in `t` seconds."),
        "Ignored": header(false, text(),
            "With fields or parameters that the operation does not have: their names, with commas between them, those of \
             the query as `query:name`."),
        "ContentDisposition": header(false, text(), "With a file: that it is one, and its name."),
        "RetryAfter": header(false, object! {"type": "integer", "minimum": 1},
            "Seconds after which to try again; with `request_in_progress`, 429 and 503."),
        "Allow": header(true, text(), "The methods that the path takes."),
        "WwwAuthenticate": header(true, words(["Bearer"]), "Always."),
    }
}

fn header_name(component: &str) -> &'static str {
    match component {
        "RequestId" => "x-request-id",
        "CacheControl" => "cache-control",
        "ContentTypeOptions" => "x-content-type-options",
        "ContentSecurityPolicy" => "content-security-policy",
        "IdempotentReplayed" => "idempotent-replayed",
        "EntityTag" => "etag",
        "RateLimitPolicy" => RATE_LIMIT_POLICY,
        "RateLimit" => RATE_LIMIT,
        "Ignored" => IGNORED,
        "ContentDisposition" => "content-disposition",
        "RetryAfter" => "retry-after",
        "Allow" => "allow",
        _ => "www-authenticate",
    }
}
