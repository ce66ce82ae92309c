"""The whole answer to a call: the SDK hands its callers only parts of an error."""

from contextvars import ContextVar

import httpx

# The last answer that this task has had; tasks that ask at the same time do not see each other's.
answered: ContextVar[httpx.Response] = ContextVar("answered")


async def keep(response: httpx.Response) -> None:
    """To be a response hook: httpx.AsyncClient(event_hooks={"response": [keep]})."""
    await response.aread()
    answered.set(response)


def aap_error() -> dict | None:
    """The AAP error object of the last answer, wherever its contract version puts it."""
    response = answered.get()
    if response.status_code != 200:
        return None  # 401: see response.headers["WWW-Authenticate"]
    data = response.json().get("error", {}).get("data")
    for entry in data if isinstance(data, list) else [data]:
        found = (entry or {}).get("value", entry)
        if isinstance(found, dict) and found.get("type") == "aap.error":
            return found
    return None
