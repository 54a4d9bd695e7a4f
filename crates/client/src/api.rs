//! The operations of the service, in groups.

mod cards;
mod categories;
mod employees;
mod limits;
mod orders;
mod replenishments;
mod sandbox;

pub use cards::Cards;
pub use categories::Categories;
pub use employees::Employees;
pub use limits::Limits;
pub use orders::Orders;
pub use replenishments::Replenishments;
pub use sandbox::Sandbox;
