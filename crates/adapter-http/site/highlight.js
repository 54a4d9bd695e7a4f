// Colours for code: spans with a class each, so that the page needs no foreign script and no inline style.

const KEYWORDS = new Set([
  "async", "await", "const", "false", "fn", "import", "let", "new", "null", "return", "true", "type", "use",
  "False", "None", "True", "GET", "POST", "PUT", "PATCH", "DELETE", "HTTP", "curl",
]);

/** Comments; texts, with the colon that makes one a name; variables of a shell; numbers; names of headers; words. */
const TOKEN = new RegExp([
  /(?<comment>(?:^|(?<=\s))(?:\/\/|#\s).*$)/,
  /(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)(?<colon>\s*:)?/,
  /(?<variable>\$\w+)/,
  /(?<number>\b\d+(?:\.\d+)?\b)/,
  /(?<header>^[a-z][a-z-]*(?=: ))/,
  /(?<word>[A-Za-z_]\w*)/,
].map(part => part.source).join("|"), "gm");

/** The parts of a code: strings as they are, and pairs of a kind and a text. */
export function tokens(code) {
  const parts = [];
  let end = 0;
  for (const match of code.matchAll(TOKEN)) {
    const { comment, text, colon, variable, number, header, word } = match.groups;
    const kind = comment ? "comment" : text ? (colon ? "key" : "string") : variable ? "variable" : number ? "number"
      : header ? "key" : KEYWORDS.has(word) ? "keyword" : null;
    if (!kind) continue;
    const token = text ?? match[0];
    parts.push(code.slice(end, match.index), [kind, token]);
    end = match.index + token.length;
  }
  return [...parts, code.slice(end)].filter(part => part !== "");
}
