"""A first call with the client that openapi-python-client generates."""

import os
import uuid

from kopeck_client import AuthenticatedClient
from kopeck_client.api.balance import balance
from kopeck_client.api.employees import employee_add
from kopeck_client.api.tokens import token_access
from kopeck_client.models import Balance, Employee, EmployeeAddRequest, FaultyFields, TokenAccessRequest, Tokens

url = os.environ["KOPECK_URL"]
by_key = AuthenticatedClient(url, os.environ["KOPECK_API_KEY"], prefix="", auth_header_name="x-api-key")
credentials = TokenAccessRequest(login=os.environ["KOPECK_LOGIN"], password=os.environ["KOPECK_PASSWORD"])
tokens = token_access.sync(client=by_key, body=credentials, x_nonce=uuid.uuid4().hex)
assert isinstance(tokens, Tokens), tokens
client = AuthenticatedClient(url, tokens.access_token)
employee = employee_add.sync(client=client, body=EmployeeAddRequest(custom_id="P-1"), x_nonce=uuid.uuid4().hex)
assert isinstance(employee, Employee), employee
refused = employee_add.sync(client=client, body=EmployeeAddRequest(custom_id="P-1"), x_nonce=uuid.uuid4().hex)
assert isinstance(refused, FaultyFields), refused
funds = balance.sync(client=client, x_nonce=uuid.uuid4().hex)
assert isinstance(funds, Balance), funds
print(f"available={funds.available}")
