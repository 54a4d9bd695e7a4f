"""Serves the connector: `KOPECK_BANK_SECRET=… python serve.py --port 8090 --processor http://127.0.0.1:9000`."""

from __future__ import annotations

import argparse
import logging
import os

from waitress.server import create_server

from connector import Connector, Processor, create_app


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--database", default="connector.sqlite")
    parser.add_argument("--processor", default="http://127.0.0.1:9000")
    parser.add_argument("--mistake", help="for tests of the check: a mistake of mistakes.py")
    parser.add_argument("--rehearsal", action="store_true", help="let a sandbox make purchases and move the processor's clock")
    arguments = parser.parse_args()
    kind = Connector
    if arguments.mistake:
        import mistakes

        kind = mistakes.plant(arguments.mistake)
    connector = kind(arguments.database, Processor(arguments.processor))
    app = create_app(connector, os.environ["KOPECK_BANK_SECRET"])
    if arguments.rehearsal:
        import rehearsal

        rehearsal.add(app, connector)
    # More threads than processors: they wait for the processor most of the time.
    server = create_server(app, host="127.0.0.1", port=arguments.port, threads=16)
    print(f"the connector listens on http://127.0.0.1:{server.effective_port}", flush=True)
    server.run()
