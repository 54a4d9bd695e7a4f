# Calls from a terminal with nothing but curl, for bash and zsh. Goes by KOPECK_URL, KOPECK_API_KEY, KOPECK_LOGIN and
# KOPECK_PASSWORD.
#
#   . docs/examples/kopeck.sh

# 128 random bits, for the header x-nonce.
nonce() {
    head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n'
}

# The value of a field in the JSON on standard input: field orderId
field() {
    sed -n 's/.*"'"$1"'": *"\{0,1\}\([^",}]*\).*/\1/p'
}

# Keeps an access token for the calls below.
log_in() {
    TOKEN=$(curl -sS "$KOPECK_URL/v1/get_access_token" -H "x-api-key: $KOPECK_API_KEY" -H "x-nonce: $(nonce)" \
        -H 'content-type: application/json' \
        -d "{\"login\":\"$KOPECK_LOGIN\",\"password\":\"$KOPECK_PASSWORD\"}" | field accessToken)
}

# One call; prints the body and the status: api METHOD PATH [BODY [options of curl]]
api() {
    api_as "$(nonce)" "$@"
}

# The same under a nonce of your own: api_as NONCE METHOD PATH [BODY [options of curl]]
api_as() {
    api_nonce=$1 api_method=$2 api_path=$3 api_body=${4-}
    shift $(($# < 4 ? $# : 4))
    [ -z "$api_body" ] || set -- -H 'content-type: application/json' -d "$api_body" "$@"
    curl -sS -X "$api_method" "$KOPECK_URL$api_path" -H "authorization: Bearer $TOKEN" -H "x-nonce: $api_nonce" "$@" \
        -w '\nHTTP %{http_code}\n'
}
