"""The client for asyncio. `kopeck.sync` is generated from it by tools/unasync.py."""
