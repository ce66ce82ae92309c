//! Former versions of a lot: a plain record of every version in memory is what the database must lead to.

mod cost;
mod loss;
mod model;
mod pairs;
mod rush;
mod units;
