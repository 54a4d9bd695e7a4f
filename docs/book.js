// Some pages link to files of the repository beside the book, which the built book does not have: there they become text.
for (const link of document.querySelectorAll("main a[href]")) {
  const root = new URL(path_to_root || "./", document.location);
  if (!link.href.startsWith(root.href) && !/^https?:/.test(link.getAttribute("href"))) {
    const text = document.createElement("span");
    text.append(...link.childNodes);
    text.title = `${link.getAttribute("href")}, in the repository`;
    link.replaceWith(text);
  }
}
