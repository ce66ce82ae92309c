"""A buyer agent as anybody would write it: it knows a dealer's base address and the official SDK, nothing else."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
from a2a.client import A2ACardResolver, Client, ClientCallContext, ClientConfig, create_client
from a2a.helpers.proto_helpers import get_data_parts, new_data_part
from a2a.types.a2a_pb2 import AgentCard, Message, Role, SendMessageRequest

from aap_error import keep

#: The contract this buyer speaks, as the extension URI that a dealer's card must name.
CONTRACT = "https://autoagentprotocol.org/extensions/aap/v3.0"

#: Skill id to the stem of its media types, where the two differ.
MEDIA = {"inventory.vehicle": "vehicle-detail"}


def media_type(skill: str, direction: str) -> str:
    """The media type of a skill's `request` or `response`."""
    stem = MEDIA.get(skill, skill.replace(".", "-"))
    return f"application/vnd.autoagent.{stem}-{direction}+json"


class Buyer:
    """One dealer, as the SDK shows it."""

    def __init__(self, card: AgentCard, client: Client, http: httpx.AsyncClient) -> None:
        self.card = card
        self.client = client
        self._http = http
        #: The contract of the card: what its endpoint wants in `A2A-Extensions`, be it a must or not.
        self.contract = next(e.uri for e in card.capabilities.extensions if "/extensions/aap/" in e.uri)

    @classmethod
    async def at(cls, base: str, key: str | None = None) -> Buyer:
        """Resolves the card from a base address (a dealer's, or that of one of its contract versions) and connects
        to what the card names; with a key, if the dealer gave one."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        http = httpx.AsyncClient(event_hooks={"response": [keep]}, headers=headers)
        card = await A2ACardResolver(http, base).get_agent_card()
        return cls(card, await create_client(card, ClientConfig(httpx_client=http)), http)

    async def send(
        self,
        skill: str,
        request: dict[str, Any] | None = None,
        *,
        headers: dict[str, str] | None = None,
        accept: str | None = None,
        tenant: str = "",
        **message: Any,
    ) -> Message:
        """Calls one skill and returns the whole A2A message that answers; `message` adds members to the one sent."""
        data = {"type": f"{skill}.request", **(request or {})}
        sent = SendMessageRequest(
            tenant=tenant,
            message=Message(
                message_id=str(uuid.uuid4()),
                role=Role.ROLE_USER,
                parts=[new_data_part(data, media_type(skill, "request"))],
                **message,
            )
        )
        sent.configuration.accepted_output_modes.append(accept or media_type(skill, "response"))
        # The SDK sends A2A-Version by itself. `headers` replace what is sent.
        context = ClientCallContext(service_parameters={"A2A-Extensions": self.contract, **(headers or {})})
        events = [event async for event in self.client.send_message(sent, context=context)]
        if len(events) != 1 or not events[0].HasField("message"):
            raise AssertionError(f"expected one message, got {events}")
        return events[0].message

    async def ask(self, skill: str, request: dict[str, Any] | None = None) -> dict[str, Any]:
        """Calls one skill and returns the `data` of its answer. Every number is a float: so the SDK hands them out."""
        answer = await self.send(skill, request)
        return get_data_parts(answer.parts)[0]["data"]

    async def close(self) -> None:
        await self.client.close()
        await self._http.aclose()  # the SDK leaves alone what it did not make
