"""A buyer that was generated: it knows an OpenAPI document and nothing else.

`dealer_api` is made from that document by openapi-python-client.
"""

import sys
import uuid
from datetime import datetime, timezone

from dealer_api import Client, models
from dealer_api.api.dealer import dealer_information, get_dealer
from dealer_api.api.inventory import (
    get_facets,
    get_vehicle,
    inventory_facets,
    inventory_search,
    inventory_vehicle,
    list_inventory,
)
from dealer_api.api.lead import lead_submit


def main(base: str) -> None:
    client = Client(base_url=base)

    # By POST: all five skills. `type` may be left out.
    who = dealer_information.sync(client=client, body=models.DealerInformationRequest())
    assert isinstance(who, models.DealerInformationResponse), who
    counted = inventory_facets.sync(
        client=client,
        body=models.InventoryFacetsRequest.from_dict({"filters": {"condition": ["used"]}}),
    )
    assert isinstance(counted, models.InventoryFacetsResponse), counted
    make = str(counted.data.makes[0].value)
    found = inventory_search.sync(
        client=client,
        body=models.InventorySearchRequest.from_dict(
            {
                "filters": {"make": [make]},
                "sort": {"field": "price", "order": "asc"},
                "pagination": {"limit": 3},
            }
        ),
    )
    assert isinstance(found, models.InventorySearchResponse), found
    vehicle_id = found.data.vehicles[0].vehicle_id
    # One of three members must be there: for that the generator has no type, and takes the payload as it is.
    detail = inventory_vehicle.sync(client=client, body={"vehicle_id": vehicle_id})
    assert isinstance(detail, models.VehicleDetailResponse), detail
    assert detail.data.vehicle_id == vehicle_id
    lead = lead_submit.sync(
        client=client,
        body=models.LeadSubmitRequest.from_dict(
            {
                "customer": {"first_name": "Generated", "last_name": "Buyer", "email": "generated.buyer@post.example"},
                "consent": {
                    "granted_at": datetime.now(timezone.utc).isoformat(),
                    "allowed_channels": ["email"],
                    "consent_text": "The dealer may email me about this vehicle.",
                    "scope": ["lead_submission"],
                },
                "source_agent": {"name": "generated-python-buyer"},
                "vehicle_of_interest": {"vehicle_id": vehicle_id},
                "idempotency_key": str(uuid.uuid4()),
            }
        ),
    )
    assert isinstance(lead, models.LeadSubmitResponse), lead

    # By GET: the same answers.
    page = list_inventory.sync_detailed(client=client, make=[make], sort="price", order="asc", limit=3)
    assert page.parsed.to_dict()["data"]["vehicles"] == found.to_dict()["data"]["vehicles"]
    assert 'rel="next"' in page.headers["link"]
    assert get_vehicle.sync(vehicle_id, client=client).to_dict() == detail.to_dict()
    assert get_dealer.sync(client=client).to_dict() == who.to_dict()
    assert get_facets.sync(client=client, condition=["used"]).to_dict() == counted.to_dict()

    # A refusal is typed too.
    nothing = get_vehicle.sync_detailed("no such/id", client=client)
    assert nothing.status_code == 404, nothing
    assert isinstance(nothing.parsed, models.Problem), nothing
    assert nothing.parsed.error.code == "VEHICLE_NOT_FOUND", nothing.parsed
    print("ok: the Python client makes all five calls, by POST and GET")


if __name__ == "__main__":
    main(sys.argv[1])
