import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.BalanceApi;
import org.openapitools.client.api.EmployeesApi;
import org.openapitools.client.api.TokensApi;
import org.openapitools.client.model.EmployeeAddRequest;
import org.openapitools.client.model.TokenAccessRequest;

/** A first call with the client that OpenAPI Generator generates for Java. */
class Client {
    public static void main(String[] arguments) throws ApiException {
        var credentials = new TokenAccessRequest().login(env("LOGIN")).password(env("PASSWORD"));
        var byKey = new TokensApi(client("x-api-key", env("API_KEY")));
        var token = byKey.tokenAccess(nonce(), credentials, null).getAccessToken();
        var client = client("authorization", "Bearer " + token);

        var employee = new EmployeeAddRequest().customId("J-1");
        new EmployeesApi(client).employeeAdd(nonce(), employee, null, null);
        try {
            new EmployeesApi(client).employeeAdd(nonce(), employee, null, null);
            throw new IllegalStateException("an employee was added twice");
        } catch (ApiException refused) {
            if (refused.getCode() != 422) throw refused;
        }
        System.out.println("available=" + new BalanceApi(client).balance(nonce(), null).getAvailable());
    }

    static ApiClient client(String header, String value) {
        var client = new ApiClient();
        client.updateBaseUri(env("URL"));
        // Without `accept` it would name both media types of a response, and get a sealed one.
        return client.setRequestInterceptor(
                request -> request.setHeader(header, value).setHeader("accept", "application/json"));
    }

    static String env(String name) {
        return System.getenv("KOPECK_" + name);
    }

    static String nonce() {
        return UUID.randomUUID().toString();
    }
}
