"""What the client takes of asyncio. The blocking client has a module of the same name."""

import asyncio

Lock = asyncio.Lock
sleep = asyncio.sleep
