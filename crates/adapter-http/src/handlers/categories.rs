//! Categories.

use actix_web::http::StatusCode;
use kopeck_domain::category::CategoryName;
use kopeck_domain::ids::CategoryId;
use kopeck_service::categories;

use super::employees::LIST_SIZE;
use crate::dto::{CategoryDto, CategoryUseDto, PageDto};
use crate::exchange::{Answer, Exchange};
use crate::input::kinds::text;
use crate::route::Outcome;

pub(crate) async fn create(x: Exchange) -> Outcome {
    let name = x.call.values(|r| r.body().required("nameCategory", text(CategoryName::parse)));
    x.mutate(StatusCode::CREATED, name, |unit, env, partner, name| {
        categories::create(unit, env, partner, name.clone()).map(CategoryDto::from)
    })
    .await
}

pub(crate) async fn rename(x: Exchange) -> Outcome {
    let values = x.call.values(|r| {
        let id = r.id::<CategoryId>("idCategory");
        let name = r.body().required("nameCategory", text(CategoryName::parse));
        Some((id?, name?))
    });
    x.mutate(StatusCode::OK, values, |unit, _env, partner, (id, name)| {
        categories::rename(unit, partner, *id, name.clone()).map(CategoryDto::from)
    })
    .await
}

pub(crate) async fn delete(x: Exchange) -> Outcome {
    let id = x.call.values(|r| r.id::<CategoryId>("idCategory"));
    x.mutate(StatusCode::OK, id, |unit, _env, partner, id| {
        categories::delete(unit, partner, *id).map(CategoryDto::from)
    })
    .await
}

pub(crate) async fn list(x: Exchange) -> Outcome {
    let page = x.call.values(|r| r.page(LIST_SIZE))?;
    let listed = x.read(Ok(page), |unit, _env, partner, page| categories::list(unit, partner, *page)).await?;
    Answer::json(StatusCode::OK, &PageDto::new(&listed, page, &x.call.path, CategoryUseDto::from))
}
