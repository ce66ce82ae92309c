"""What a document cannot say of its own requests, for schemathesis."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """A cursor is good only where an answer has given it: requests that are to be accepted go without one."""
    generation = getattr(case.meta, "generation", None)
    if generation is None or not generation.mode.is_positive:
        return
    if isinstance(case.query, dict):
        case.query.pop("cursor", None)
    pagination = case.body.get("pagination") if isinstance(case.body, dict) else None
    if isinstance(pagination, dict):
        pagination.pop("cursor", None)
