/** A number or qualifier of a version, with the separator before it. */
interface Token {
  readonly separator: "." | "-";
  readonly text: string;
  readonly isNumber: boolean;
}

/** Qualifiers in their order; "" is the release. Others follow, in the order of the alphabet. */
const QUALIFIERS = ["alpha", "beta", "milestone", "rc", "snapshot", "", "sp"];
const SYNONYMS = new Map([
  ["cr", "rc"],
  ["ga", ""],
  ["final", ""],
  ["release", ""],
]);
/** Short for a qualifier if a number follows directly. */
const SHORT = new Map([
  ["a", "alpha"],
  ["b", "beta"],
  ["m", "milestone"],
]);

/**
 * Compares versions in the order in which Maven prefers them, lowest first.
 *
 * @see https://maven.apache.org/pom.html#version-order-specification
 */
export function compareMavenVersions(left: string, right: string): number {
  const [ours, theirs] = [trim(parse(left)), trim(parse(right))];
  for (let at = 0; at < Math.max(ours.length, theirs.length); at++) {
    const [one, other] = [ours[at], theirs[at]];
    const order = compareTokens(one ?? paddingFor(other), other ?? paddingFor(one));
    if (order !== 0) return order;
  }
  return 0;
}

function parse(version: string): Token[] {
  const tokens: Token[] = [];
  const part = /([.\-_]?)(\d+|[^\d.\-_]*)/y;
  const text = version.toLowerCase();
  while (part.lastIndex < text.length) {
    const [, separator, found = ""] = part.exec(text) ?? [];
    const isNumber = found === "" || /^\d/.test(found);
    const isBeforeNumber = /\d/.test(text[part.lastIndex] ?? "");
    tokens.push({
      // A change between digits and letters counts as a hyphen, as does a dot before a qualifier
      // with a number.
      separator:
        (separator === "." && !(isBeforeNumber && !isNumber)) || tokens.length === 0 ? "." : "-",
      text: isNumber ? found.replace(/^0+/, "") || "0" : qualifierOf(found, isBeforeNumber),
      isNumber,
    });
  }
  return tokens;
}

const qualifierOf = (text: string, isBeforeNumber: boolean): string =>
  (isBeforeNumber ? SHORT.get(text) : undefined) ?? SYNONYMS.get(text) ?? text;

/** Removes zeros and releases before each hyphen and at the end. */
function trim(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  for (const token of tokens.toReversed()) {
    const isNull = token.text === "0" || token.text === "";
    if (isNull && (kept[0]?.separator ?? "-") === "-") continue;
    kept.unshift(token);
  }
  return kept;
}

/** The token that pads a shorter version. */
const paddingFor = (token: Token | undefined): Token =>
  token?.separator === "." && token.isNumber
    ? { separator: ".", text: "0", isNumber: true }
    : { separator: token?.separator ?? "-", text: "", isNumber: false };

function compareTokens(one: Token, other: Token): number {
  const order = rankOf(one) - rankOf(other);
  if (order !== 0) return order;
  if (one.isNumber) {
    return one.text.length - other.text.length || compareTexts(one.text, other.text);
  }
  const [left, right] = [QUALIFIERS.indexOf(one.text), QUALIFIERS.indexOf(other.text)];
  if (left >= 0 && right >= 0) return left - right;
  if (left >= 0 || right >= 0) return left >= 0 ? -1 : 1;
  return compareTexts(one.text, other.text);
}

/** Qualifiers come before numbers after a hyphen, and those before numbers after a dot. */
const rankOf = ({ separator, isNumber }: Token): number =>
  isNumber ? (separator === "." ? 2 : 1) : 0;

const compareTexts = (one: string, other: string): number =>
  one < other ? -1 : one > other ? 1 : 0;
