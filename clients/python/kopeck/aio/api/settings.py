"""The partner's settings."""

from __future__ import annotations

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.models.generated import LeaverSettings, PartnerSettings
from kopeck.wire import decode


class Settings:
    """Calls about the partner's settings."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def get(self) -> PartnerSettings:
        """Reads the settings."""
        return decode(PartnerSettings, await self._core.call(operations.SETTINGS_GET))

    async def update(self, leavers: LeaverSettings, *, idempotency_key: str | None = None) -> PartnerSettings:
        """Replaces the settings: what happens to the cards of employees who become `DONT_WORK` from then on."""
        body = {"leavers": leavers}
        return decode(PartnerSettings, await self._core.call(operations.SETTINGS_UPDATE, body=body, key=idempotency_key))
