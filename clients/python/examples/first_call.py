"""Adds an employee, and says what is left to spend.

    KOPECK_URL=… KOPECK_API_KEY=… KOPECK_LOGIN=… KOPECK_PASSWORD=… KOPECK_SEALING_KEY=… \\
        python examples/first_call.py T-0001
"""

import os
import sys

import kopeck

with kopeck.Client(
    os.environ["KOPECK_URL"],
    api_key=os.environ["KOPECK_API_KEY"],
    login=os.environ["KOPECK_LOGIN"],
    password=os.environ["KOPECK_PASSWORD"],
    sealing_key=os.environ["KOPECK_SEALING_KEY"],
) as client:
    employee = client.employees.add(sys.argv[1], surname="Petrova", phone="9031234567")
    available = client.balance().available
    print(f"{employee.custom_id} is added, {available} kopecks are left to spend")
