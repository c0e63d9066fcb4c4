/** The index of the closing backtick of the template whose text starts at `start`. */
export function templateEnd(source: string, start: number): number {
  let at = start;
  for (; at < source.length && source[at] !== "`"; at++) {
    if (source[at] === "\\") at++;
    else if (source.startsWith("${", at)) at = substitutionEnd(source, at + 2);
  }
  return at;
}

/** The index of the brace that closes a `${…}` whose expression starts at `start`. */
function substitutionEnd(source: string, start: number): number {
  let depth = 0;
  let at = start;
  for (; at < source.length; at++) {
    const char = source[at];
    if (char === "`") at = templateEnd(source, at + 1);
    else if (char === '"' || char === "'") at = stringEnd(source, at + 1, char);
    else if (char === "{") depth++;
    else if (char === "}" && depth-- === 0) break;
  }
  return at;
}

function stringEnd(source: string, start: number, quote: string): number {
  let at = start;
  for (; at < source.length && source[at] !== quote; at++) if (source[at] === "\\") at++;
  return at;
}
