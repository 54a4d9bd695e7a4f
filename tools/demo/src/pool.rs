//! Many requests, a few at a time.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::progress::Progress;

/// The most calls on their way at once.
pub(crate) const AT_ONCE: usize = 8;

/// Makes a call for each of `items` and answers in their order. The first call that fails ends it.
///
/// Calls start in order, each when the one [`AT_ONCE`] places before it is done.
pub(crate) async fn each<I, T, C>(
    items: impl IntoIterator<Item = I>,
    progress: &Progress,
    call: impl FnMut(I) -> C,
) -> anyhow::Result<Vec<T>>
where
    C: Future<Output = anyhow::Result<T>>,
{
    let answers =
        stream::iter(items).map(call).buffered(AT_ONCE).inspect(|_| progress.step()).try_collect().await;
    progress.done();
    answers
}
