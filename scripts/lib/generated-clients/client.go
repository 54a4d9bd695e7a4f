// A first call with the client that OpenAPI Generator generates for Go.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"

	kopeck "kopeck.example/client"
)

func main() {
	login := client("x-api-key", os.Getenv("KOPECK_API_KEY"))
	credentials := kopeck.TokenAccessRequest{Login: os.Getenv("KOPECK_LOGIN"), Password: os.Getenv("KOPECK_PASSWORD")}
	tokens, _, err := login.TokensAPI.TokenAccess(context.Background()).XNonce(nonce()).TokenAccessRequest(credentials).Execute()
	must(err)
	client := client("authorization", "Bearer "+tokens.AccessToken)

	employee := kopeck.EmployeeAddRequest{CustomId: "G-1"}
	add := func() (*http.Response, error) {
		call := client.EmployeesAPI.EmployeeAdd(context.Background()).XNonce(nonce()).EmployeeAddRequest(employee)
		_, response, err := call.Execute()
		return response, err
	}
	_, err = add()
	must(err)
	if response, err := add(); response == nil || response.StatusCode != 422 {
		must(fmt.Errorf("an employee was added twice: %v", err))
	}

	balance, _, err := client.BalanceAPI.Balance(context.Background()).XNonce(nonce()).Execute()
	must(err)
	fmt.Printf("available=%d\n", balance.Available)
}

func client(header, value string) *kopeck.APIClient {
	configuration := kopeck.NewConfiguration()
	configuration.Servers = kopeck.ServerConfigurations{{URL: os.Getenv("KOPECK_URL")}}
	configuration.AddDefaultHeader(header, value)
	return kopeck.NewAPIClient(configuration)
}

func nonce() string {
	bytes := make([]byte, 16)
	_, err := rand.Read(bytes)
	must(err)
	return hex.EncodeToString(bytes)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
