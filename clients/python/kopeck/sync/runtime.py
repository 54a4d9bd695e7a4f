"""What the client takes of threads. The client for asyncio has a module of the same name."""

import threading
import time

Lock = threading.Lock
sleep = time.sleep
