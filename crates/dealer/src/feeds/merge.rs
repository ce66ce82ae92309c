//! One vehicle from what several sources and people say of it.
