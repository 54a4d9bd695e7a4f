"""The connector over the processor, in one process: what the check cannot see from outside."""

import json
import tempfile
import threading
import unittest

from waitress.server import create_server

import connector
import processor
import protocol

SECRET = "s3cret"


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = create_server(
            processor.create_app(f"{self.folder.name}/processor.sqlite"), host="127.0.0.1", port=0, threads=4)
        threading.Thread(target=self.server.run, daemon=True).start()
        address = f"http://127.0.0.1:{self.server.effective_port}"
        self.processor = connector.Processor(address)
        self.connector = connector.Connector(f"{self.folder.name}/connector.sqlite", self.processor)
        self.client = connector.create_app(self.connector, SECRET).test_client()

    def tearDown(self):
        if connection := getattr(self.processor.local, "connection", None):
            connection.close()
        self.server.close()
        self.folder.cleanup()

    def post(self, path, body):
        return self.client.post(path, data=json.dumps(body), headers={"Authorization": f"Bearer {SECRET}"})

    def submit(self, *instructions):
        return self.post("/bank/v1/instructions", {"instructions": instructions}).get_json()["results"]

    def card(self, order="o"):
        self.submit({"type": "ISSUE_CARDS", "key": order, "lines": [{"type": "MP4", "count": 1}]})
        cards = self.client.get(f"/bank/v1/issued-cards?order={order}", headers={"Authorization": f"Bearer {SECRET}"})
        return cards.get_json()["cards"][0]["number"]

    def test_an_instruction_goes_on_where_the_processor_stopped_answering(self):
        card, real = self.card(), self.connector.processor
        top_up = {"type": "TOP_UP", "key": "t", "card": card, "amount": 100}

        class Silent:
            def operation(self, *arguments, **body):
                real.operation(*arguments, **body)  # it has its effect, and the answer is lost
                raise connector.NoAnswer("lost")

        self.connector.processor = Silent()
        self.assertEqual(self.submit(top_up), [{"key": "t", "outcome": "PENDING"}])
        self.connector.processor = real
        query = self.post("/bank/v1/instructions/query", {"keys": ["t"]}).get_json()["results"]
        self.assertEqual(query, [{"key": "t", "outcome": "DONE"}])
        self.assertEqual(real.call("GET", f"/v2/cards/{card}")[1]["balance"], "1.00")

    def test_an_order_that_stopped_half_way_is_completed_once(self):
        real, calls = self.connector.processor, []

        class Tired:
            def operation(self, path, external_id, **body):
                calls.append(external_id)
                if len(calls) == 3:
                    raise connector.NoAnswer("lost")
                return real.operation(path, external_id, **body)

            call = real.call

        self.connector.processor = Tired()
        order = {"type": "ISSUE_CARDS", "key": "o", "lines": [{"type": "MLZ", "count": 4, "firstTopUp": 500}]}
        self.assertEqual(self.submit(order), [{"key": "o", "outcome": "PENDING"}])
        self.assertEqual(self.submit(order), [{"key": "o", "outcome": "DONE"}])
        events = real.call("GET", "/v2/events")[1]["events"]
        self.assertEqual(len({event["card"] for event in events}), 4)

    def test_a_closing_takes_the_money_before_it_closes(self):
        card = self.card()
        self.submit({"type": "TOP_UP", "key": "t", "card": card, "amount": 700})
        close = {"type": "CLOSE_CARD", "key": "c", "card": card}
        self.assertEqual(self.submit(close), [{"key": "c", "outcome": "DONE", "returned": 700}])
        self.assertEqual(self.submit(close), [{"key": "c", "outcome": "DONE", "returned": 700}])

    def test_no_personal_data_in_the_message_of_a_refusal(self):
        delivery = {"address": "1 Main Street", "recipient": "Anna Petrova", "phone": "1", "note": "Anna Petrova"}
        line = {"type": "MP4", "count": 1, "delivery": delivery}
        with self.assertRaises(protocol.Refused) as refused:
            protocol.read_batch({"instructions": [{"type": "ISSUE_CARDS", "key": "o", "lines": [line]}]})
        self.assertNotIn("Anna", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
