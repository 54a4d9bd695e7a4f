// The console's only script. It makes four places quicker by replacing a part of a page: the preview of a run and its pages, the
// progress of a run, the search of people, and the number of approvals in the navigation. And it empties a page whose session
// has ended. Every page works without it.
'use strict';
(() => {
  // What typing has to pause for before a search begins, in milliseconds.
  const PAUSE = 300;
  // Two clicks within so many milliseconds are one.
  const DOUBLE = 1000;

  // Whether something would be lost that was typed into a form which changes something.
  let isTyped = false;
  document.addEventListener('input', (event) => {
    isTyped ||= event.target.form?.method === 'post';
  });

  // Leaves nothing of a page whose session has ended but the way to the login. What was typed can still be sent behind it.
  const end = () => {
    const main = document.getElementById('main');
    const { ended, logIn } = document.body.dataset;
    if (isTyped || !ended) return;
    const title = Object.assign(document.createElement('h1'), { textContent: ended });
    const link = Object.assign(document.createElement('a'), { href: '/console/login', textContent: logIn });
    document.querySelectorAll('header nav, header .user').forEach((part) => part.remove());
    main.replaceChildren(title, link);
    main.focus();
    document.title = 'Kopeck';
  };

  // What the password confirms gives the session a new token, which the second of two clicks would not have yet.
  let confirmed = -DOUBLE;
  document.addEventListener('submit', (event) => {
    if (!event.target.elements.current) return;
    if (event.timeStamp - confirmed < DOUBLE) event.preventDefault();
    else confirmed = event.timeStamp;
  });

  // The part of a page that a path answers with.
  const load = async (path, signal) => {
    const response = await fetch(path, { credentials: 'same-origin', redirect: 'error', signal });
    if (response.status === 401) end();
    if (!response.ok) throw Object.assign(new Error(`status ${response.status}`), { status: response.status });
    const parsed = new DOMParser().parseFromString(await response.text(), 'text/html');
    const part = parsed.body.firstElementChild;
    if (!part) throw new Error('no part of a page');
    return document.adoptNode(part);
  };

  // Replaces a part. Focus that was within goes to the new one, and what it says is read out.
  const replace = (old, part) => {
    const hadFocus = old.contains(document.activeElement);
    old.replaceWith(part);
    if (hadFocus) {
      part.tabIndex = -1;
      part.focus({ preventScroll: true });
    }
    const status = document.querySelector(`.says[data-of="${part.id}"]`);
    const says = part.dataset.says ?? '';
    if (status && status.textContent !== says) status.textContent = says;
  };

  // Asks for a part once; says whether to ask again.
  const ask = async (id) => {
    const old = document.getElementById(id);
    if (!old) return false;
    try {
      const part = await load(old.dataset.source);
      if (part.outerHTML !== old.outerHTML) replace(old, part);
      return true;
    } catch (error) {
      // The session has ended, or there is nothing any more. Whatever else fails may succeed next time.
      return ![401, 403, 404].includes(error.status);
    }
  };

  // Progress, the number of approvals, the session: the part says itself how often it is asked for, and at its end no more.
  const poll = (id) => {
    const seconds = Number(document.getElementById(id)?.dataset.poll);
    if (!seconds) return;
    setTimeout(async () => {
      if (document.hidden || (await ask(id))) poll(id);
    }, seconds * 1000);
  };
  for (const part of document.querySelectorAll('[data-poll]')) poll(part.id);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) for (const part of document.querySelectorAll('[data-poll]')) ask(part.id);
  });

  // Links within a part that lead to the same page with another query: pages of a table, and its filters. A part that is polled, such
  // as progress, leads to whole pages.
  const PAGED = '[data-source^="/console/fragment/"]';
  let asked = new AbortController();
  const show = async (id, query) => {
    const old = document.getElementById(id);
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    const part = await load(old.dataset.source + query, signal);
    if (!signal.aborted) replace(document.getElementById(id), part);
  };
  document.addEventListener('click', async (event) => {
    const link = event.target instanceof Element ? event.target.closest(`${PAGED} a[href]`) : null;
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || link.pathname !== location.pathname || link.origin !== location.origin) return;
    const { id } = link.closest(PAGED);
    event.preventDefault();
    try {
      await show(id, link.search);
      history.pushState({ part: id }, '', link.href);
    } catch (error) {
      if (error.name !== 'AbortError') location.assign(link.href);
    }
  });
  addEventListener('popstate', () => {
    // The entry that the page began with has no state.
    const id = history.state?.part ?? document.querySelector(PAGED)?.id;
    if (id) show(id, location.search).catch((error) => error.name === 'AbortError' || location.reload());
  });

  // A search while its words are typed. Its address follows, so that a reload and Back show the same.
  for (const form of document.querySelectorAll('form[data-searches]')) {
    let pause;
    const search = () => {
      const words = new URLSearchParams(new FormData(form));
      for (const [name, value] of [...words]) if (!value) words.delete(name);
      const query = words.size ? `?${words}` : '';
      show(form.dataset.searches, query).then(
        () => history.replaceState(history.state, '', form.action + query),
        // The form can still be sent.
        () => {},
      );
    };
    form.addEventListener('input', () => {
      clearTimeout(pause);
      pause = setTimeout(search, PAUSE);
    });
    form.addEventListener('submit', () => clearTimeout(pause));
  }
})();
